export { DOMAIN, FINALIZER, GROUP, VERSION } from './api/names.ts';
