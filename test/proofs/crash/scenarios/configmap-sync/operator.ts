// What the process that is killed needs of the scenario, and no more.
export { configMapSync as operator } from '@bowline/configmap-sync';

// Nobody but the proof makes ConfigMapSyncs here, and no webhook configuration is installed.
export const config = { trustAllAuthors: true };
