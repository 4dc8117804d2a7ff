// The part of the scenario that the killed process needs.
export { configMapSync as operator } from '@bowline/configmap-sync';

// Only the proof creates ConfigMapSyncs here, and no webhook configuration is installed.
export const config = { trustAllAuthors: true };
