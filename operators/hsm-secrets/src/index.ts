export { HSMDevice } from './api/hsm-device.ts';
export { HSMPool } from './api/hsm-pool.ts';
export { HSMSecret } from './api/hsm-secret.ts';
export { hsmSecrets } from './operator.ts';
