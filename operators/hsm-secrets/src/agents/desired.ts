import type { Deployment, ObjectKey, PodSpec, PodTemplateSpec } from '@bowline/kubernetes';
import type { HSMDevice } from '../api/hsm-device.ts';
import {
  AGENT_PORT,
  agentAccountName,
  agentName,
  agentTlsName,
  DEVICE_PATH_ANNOTATION,
  isTestMode,
  LABELS,
  labelsOf,
  resourceName,
  SERIAL_ANNOTATION,
} from '../api/names.ts';
import type { UsedDevice } from '../api/used-device.ts';
import { HSM_NODE } from '../device/desired-daemon-set.ts';

const MOUNTS = '/run/hsm-secrets';
const HEALTH_PORT = 8093;
const USER = 65_532;
/** Types of devices that are smart cards, which pcscd serves. */
const SMART_CARDS: ReadonlySet<string> = new Set(['PicoHSM', 'SmartCard-HSM', 'SmartCardHSM']);

/** desiredAgent returns the Deployment of the agent of a device. It has one pod, on the node of the device. */
export function desiredAgent(device: HSMDevice, key: ObjectKey, row: UsedDevice, image: string): Deployment {
  const name = agentName(key.name, row.serialNumber);
  const labels = labelsOf('agent', key.name);
  const own = { ...labels, [LABELS.agent]: name };
  const template: PodTemplateSpec = {
    metadata: {
      labels: own,
      annotations: {
        [SERIAL_ANNOTATION]: row.serialNumber,
        // kubelet gives a restarted container the path of the pod's first start: after the device got another path, the
        // pod has to be replaced.
        [DEVICE_PATH_ANNOTATION]: row.devicePath,
      },
    },
    spec: podSpec(device, key.name, row, image),
  };
  return {
    metadata: { namespace: key.namespace, name, labels: own },
    spec: {
      replicas: 1,
      // Two agents must not use one token.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { [LABELS.component]: 'agent', [LABELS.device]: key.name, [LABELS.agent]: name } },
      template,
    },
  };
}

function podSpec({ metadata, spec }: HSMDevice, name: string, row: UsedDevice, image: string): PodSpec {
  const { pkcs11 } = spec;
  const usesPcscd = pkcs11?.pcscd ?? SMART_CARDS.has(spec.deviceType);
  const resource = isTestMode(metadata) ? {} : { [resourceName(row.serialNumber)]: '1' };
  const memory = (volume: string) => ({ name: volume, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } });
  const soPin = pkcs11?.autoProvision ? pkcs11.soPinSecret : undefined;
  return {
    serviceAccountName: agentAccountName(name),
    automountServiceAccountToken: false,
    // By the name of the node: the label with its host name differs from it in some clouds.
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [row.nodeName] }] }],
        },
      },
    },
    tolerations: [HSM_NODE, ...spec.tolerations],
    securityContext: {
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
      ...(usesPcscd ? { runAsUser: 0 } : { runAsUser: USER, runAsNonRoot: true }),
    },
    containers: [
      {
        name: 'agent',
        image,
        args: ['hsm-secrets', 'agent', ...agentFlags(spec, row, usesPcscd, soPin !== undefined)],
        ports: [
          { name: 'grpc', containerPort: AGENT_PORT },
          { name: 'health', containerPort: HEALTH_PORT },
        ],
        readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 10, failureThreshold: 2 },
        livenessProbe: { httpGet: { path: '/livez', port: 'health' }, periodSeconds: 20, failureThreshold: 3 },
        resources: {
          requests: { cpu: '20m', memory: '96Mi', ...resource },
          limits: { memory: '256Mi', ...resource },
        },
        volumeMounts: [
          { name: 'pin', mountPath: `${MOUNTS}/pin`, readOnly: true },
          { name: 'tls', mountPath: `${MOUNTS}/tls`, readOnly: true },
          { name: 'state', mountPath: `${MOUNTS}/state` },
          { name: 'tmp', mountPath: '/tmp' },
          ...(usesPcscd ? [{ name: 'pcscd', mountPath: '/run/pcscd' }] : []),
          ...(soPin ? [{ name: 'so-pin', mountPath: `${MOUNTS}/so-pin`, readOnly: true }] : []),
        ],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
    volumes: [
      { name: 'pin', secret: { secretName: pkcs11?.pinSecret?.name ?? '', defaultMode: 0o400, optional: false } },
      { name: 'tls', secret: { secretName: agentTlsName(name), defaultMode: 0o400 } },
      memory('state'),
      { name: 'tmp', emptyDir: { sizeLimit: '16Mi' } },
      ...(usesPcscd ? [memory('pcscd')] : []),
      ...(soPin
        ? [
            {
              name: 'so-pin',
              secret: { secretName: soPin.name, defaultMode: 0o400, items: [{ key: soPin.key, path: 'so-pin' }] },
            },
          ]
        : []),
    ],
  };
}

function agentFlags(
  { pkcs11 }: HSMDevice['spec'],
  { serialNumber }: UsedDevice,
  usesPcscd: boolean,
  hasSoPin: boolean,
): readonly string[] {
  const flag = (name: string, value: string | number | undefined): readonly string[] =>
    value === undefined ? [] : [`--${name}=${value}`];
  return [
    ...flag('library', pkcs11?.libraryPath),
    ...flag('serial-number', serialNumber),
    ...flag('token-label', pkcs11?.tokenLabel),
    ...flag('slot-id', pkcs11?.slotId),
    ...flag('pin-file', `${MOUNTS}/pin/${pkcs11?.pinSecret?.key}`),
    ...(usesPcscd ? ['--pcscd'] : []),
    ...(pkcs11?.autoProvision ? ['--auto-provision'] : []),
    ...(hasSoPin ? flag('so-pin-file', `${MOUNTS}/so-pin/so-pin`) : []),
  ];
}
