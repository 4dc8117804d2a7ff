import { apiVersionOf } from '@bowline/kubernetes';
import { findCondition, OWN_NAMESPACE, type Sample, show } from '@bowline/runtime';
import type { LocalUse } from '@bowline/runtime/manager';
import { HSMDevice } from './api/hsm-device.ts';
import { HSMPool } from './api/hsm-pool.ts';
import { HSMSecret } from './api/hsm-secret.ts';
import { GROUP, poolName, TEST_MODE_ANNOTATION } from './api/names.ts';
import { contentEntry, deviceEntry, SIMULATION_SECRET } from './simulation/simulation-secret.ts';

const NAMESPACE = 'sample-hsm';
const DEVICE = 'pico-hsm-test';
const PIN_SECRET = 'pico-hsm-pin';
const SERIAL_NUMBERS = ['DC6A33145E23A42A', 'E6614C775F2B1830'] as const;

const namespace: Sample = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };

/** One device on each of the two nodes of a local control plane. */
const simulation = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: OWN_NAMESPACE, name: SIMULATION_SECRET },
  data: Object.fromEntries([
    ...SERIAL_NUMBERS.map((serialNumber, index) =>
      deviceEntry({ serialNumber, nodeName: `bowline-${index + 1}`, isPlugged: true }),
    ),
    contentEntry('database', { username: 'shop', password: 'correct-horse' }),
  ]),
};

const pin = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: NAMESPACE, name: PIN_SECRET },
  data: { pin: Buffer.from('648219').toString('base64') },
};

const device = {
  apiVersion: apiVersionOf(HSMDevice),
  kind: HSMDevice.kind,
  metadata: { namespace: NAMESPACE, name: DEVICE, annotations: { [TEST_MODE_ANNOTATION]: 'true' } },
  spec: {
    deviceType: 'PicoHSM',
    discovery: { autoDiscovery: true },
    pkcs11: {
      libraryPath: '/usr/lib/libsc-hsm-pkcs11.so',
      slotId: 0,
      pinSecret: { name: PIN_SECRET, key: 'pin' },
    },
    // A new user sees a lost device expire within a minute.
    gracePeriod: '20s',
    mirroring: { policy: 'Active', primaryNode: 'bowline-1' },
  },
};

const secret = {
  apiVersion: apiVersionOf(HSMSecret),
  kind: HSMSecret.kind,
  metadata: { namespace: NAMESPACE, name: 'database' },
  spec: {},
};

/**
 * Lets the account of the command line use the sample device. Its name and namespace are those of `bowline up`, which
 * applies the samples.
 */
const cliRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { namespace: NAMESPACE, name: 'hsm-secrets-cli' },
  rules: [
    { apiGroups: [GROUP], resources: ['hsmdevices'], verbs: ['get'], resourceNames: [DEVICE] },
    {
      apiGroups: [GROUP],
      resources: ['hsmdevices/secrets'],
      verbs: ['list', 'get', 'create', 'update', 'delete'],
      resourceNames: [DEVICE],
    },
    {
      apiGroups: [GROUP],
      resources: ['hsmdevices/pin', 'hsmdevices/mirror'],
      verbs: ['update'],
      resourceNames: [DEVICE],
    },
    { apiGroups: [''], resources: ['secrets'], verbs: ['update'], resourceNames: [PIN_SECRET] },
  ],
};

const cliBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { namespace: NAMESPACE, name: 'hsm-secrets-cli' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'hsm-secrets-cli' },
  subjects: [{ kind: 'ServiceAccount', namespace: 'bowline-system', name: 'bowline-hsm-secrets-cli' }],
};

/** samples demonstrate the operator: two simulated devices, the HSMDevice that finds them, and a secret on them. */
export const samples: readonly Sample[] = [namespace, simulation, pin, device, secret, cliRole, cliBinding];

/** local configures a local trial: containers do not run there, so devices are simulated. */
export const local: LocalUse = {
  config: {
    image: 'bowline.invalid/simulated',
    simulation: { enabled: true },
    api: { enabled: true, address: '127.0.0.1:0' },
  },
  warning: 'HSM devices are simulated (simulation.enabled): they hold no real keys',
  displayedResources: [
    show(HSMPool, {
      awaits: [`${NAMESPACE}/${poolName(DEVICE)}`],
      state: (pool) => {
        const ready = findCondition(pool, 'Ready');
        const isComplete = pool.status?.availableDevices === SERIAL_NUMBERS.length;
        return { isReady: ready?.status === 'True' && isComplete, message: ready?.message ?? 'no reports yet' };
      },
    }),
  ],
  suggestedCommands: [
    'kubectl get hsmpool -A',
    `bowline hsm-secrets simulate unplug ${SERIAL_NUMBERS[0]}`,
    'bowline hsm-secrets create api-key --from-literal token=abc',
    `kubectl delete pods -n ${NAMESPACE} -l app.kubernetes.io/component=discovery`,
  ],
};
