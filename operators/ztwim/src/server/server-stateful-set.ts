import type { StatefulSet } from '@bowline/kubernetes';
import type { Container, EnvVar, Volume } from '@bowline/kubernetes/core-v1';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { asUser, podTemplate, RESTRICTED } from '../objects/pod-template.ts';
import { DATA_DIR } from '../spire/data-paths.ts';
import { SERVING_CERT_DIR } from '../spire/federation-config.ts';
import { CONTROLLER_MANAGER, PORTS, SERVER, SERVER_SOCKET } from '../spire/names.ts';
import { DATABASE_TLS_DIR } from '../spire/server-config.ts';
import {
  AWS_CREDENTIALS,
  type ServerFiles,
  type ServerInput,
  serverComponent,
  usesServingCert,
} from './server-input.ts';
import { CONTROLLER_MANAGER_CONF, SERVER_CONF, SERVING_CERT } from './server-services.ts';
import { vaultMounts, vaultVolumes } from './upstream.ts';

/** CLAIM_TEMPLATE is the name of the volume with the data of the server, and of the template of its claims. */
export const CLAIM_TEMPLATE = 'spire-data';

const CONFIG_DIR = '/run/spire/config';
const CONTROLLER_MANAGER_DIR = '/run/spire-controller-manager/config';
const SOCKET_DIR = SERVER_SOCKET.slice(0, SERVER_SOCKET.lastIndexOf('/'));
/** PostgreSQL's client refuses private keys that others than the owner and its group can read. */
const KEY_MODE = 0o440;
/** The variable that `connectionString` may contain. */
const PASSWORD_VARIABLE = 'SPIRE_DB_PASSWORD';

/** SERVER_HASHES are the annotations of the pods whose change restarts the server. */
export const SERVER_HASHES = {
  server: 'ztwim.openshift.io/spire-server-config-hash',
  controllerManager: 'ztwim.openshift.io/spire-controller-manager-config-hash',
  secrets: 'ztwim.openshift.io/secrets-hash',
} as const;

/** serverStatefulSet returns the workload of the server. */
export function serverStatefulSet(input: ServerInput, files: ServerFiles): StatefulSet {
  const { spec, config, secretsHash } = input;
  const of = serverComponent(input);
  const { persistence, deletion, replicas } = spec;
  return {
    metadata: { name: SERVER, namespace: config.operandNamespace, labels: objectLabels(input, of) },
    spec: {
      replicas,
      serviceName: SERVER,
      selector: { matchLabels: selectorLabels(of) },
      persistentVolumeClaimRetentionPolicy: {
        // With a backup, the cleanup deletes the claims: this policy would not wait for it.
        whenDeleted: deletion.backup === 'None' ? deletion.persistentVolumeClaims : 'Retain',
        whenScaled: 'Retain',
      },
      template: podTemplate(input, of, {
        serviceAccountName: SERVER,
        annotations: {
          [SERVER_HASHES.server]: files.server.hash,
          [SERVER_HASHES.controllerManager]: files.controllerManager.hash,
          ...(secretsHash === undefined ? {} : { [SERVER_HASHES.secrets]: secretsHash }),
        },
        containers: [serverContainer(input), controllerManagerContainer(input)],
        volumes: volumesOf(input),
        more: { ...asUser(input), shareProcessNamespace: true },
      }),
      volumeClaimTemplates: [
        {
          metadata: { name: CLAIM_TEMPLATE },
          spec: {
            accessModes: [persistence.accessMode],
            resources: { requests: { storage: persistence.size } },
            ...(persistence.storageClass === '' ? {} : { storageClassName: persistence.storageClass }),
          },
        },
      ],
    },
  };
}

function serverContainer({ spec, config }: ServerInput): Container {
  const { passwordSecretRef, tlsSecretName } = spec.datastore;
  const env = variablesOf(spec);
  return {
    name: SERVER,
    image: config.images.spireServer,
    args: ['-config', `${CONFIG_DIR}/${SERVER_CONF}`, ...(passwordSecretRef ? ['-expandEnv'] : [])],
    ...(env.length > 0 ? { env } : {}),
    ports: [
      { name: 'grpc', containerPort: PORTS.server, protocol: 'TCP' },
      { name: 'server-healthz', containerPort: PORTS.serverHealth, protocol: 'TCP' },
      { name: 'metrics', containerPort: PORTS.metrics, protocol: 'TCP' },
      ...(spec.federation ? [{ name: 'federation', containerPort: PORTS.federation, protocol: 'TCP' } as const] : []),
    ],
    livenessProbe: {
      httpGet: { path: '/live', port: 'server-healthz' },
      initialDelaySeconds: 15,
      periodSeconds: 60,
      timeoutSeconds: 3,
      failureThreshold: 2,
    },
    readinessProbe: {
      httpGet: { path: '/ready', port: 'server-healthz' },
      initialDelaySeconds: 5,
      periodSeconds: 5,
    },
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'server-config', mountPath: CONFIG_DIR, readOnly: true },
      { name: CLAIM_TEMPLATE, mountPath: DATA_DIR },
      { name: 'server-tmp', mountPath: '/tmp' },
      { name: 'server-socket', mountPath: SOCKET_DIR },
      ...(tlsSecretName === undefined ? [] : [{ name: 'datastore-tls', mountPath: DATABASE_TLS_DIR, readOnly: true }]),
      ...(usesServingCert(spec) ? [{ name: 'serving-cert', mountPath: SERVING_CERT_DIR, readOnly: true }] : []),
      ...vaultMounts(spec),
    ],
  };
}

/** The credentials of the database come from Secrets, so that the configuration file contains none. */
function variablesOf({ datastore: { passwordSecretRef, aws } }: ServerInput['spec']): readonly EnvVar[] {
  const from = (name: string, secretKeyRef: { readonly name: string; readonly key: string }): EnvVar => ({
    name,
    valueFrom: { secretKeyRef },
  });
  const credentials = aws?.credentialsSecretName;
  return [
    ...(passwordSecretRef ? [from(PASSWORD_VARIABLE, { ...passwordSecretRef })] : []),
    ...(credentials === undefined
      ? []
      : AWS_CREDENTIALS.map(({ variable, key }) => from(variable, { name: credentials, key }))),
  ];
}

function controllerManagerContainer({ config }: ServerInput): Container {
  return {
    name: CONTROLLER_MANAGER,
    image: config.images.spireControllerManager,
    args: [`--config=${CONTROLLER_MANAGER_DIR}/${CONTROLLER_MANAGER_CONF}`],
    env: [{ name: 'ENABLE_WEBHOOKS', value: 'true' }],
    ports: [
      { name: 'https', containerPort: PORTS.controllerManagerWebhook, protocol: 'TCP' },
      { name: 'ctrlmgr-metrics', containerPort: PORTS.controllerManagerMetrics, protocol: 'TCP' },
      { name: 'ctrlmgr-healthz', containerPort: PORTS.controllerManagerHealth, protocol: 'TCP' },
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: 'ctrlmgr-healthz' }, periodSeconds: 60 },
    readinessProbe: { httpGet: { path: '/readyz', port: 'ctrlmgr-healthz' }, periodSeconds: 5 },
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'controller-manager-config', mountPath: CONTROLLER_MANAGER_DIR, readOnly: true },
      { name: 'controller-manager-tmp', mountPath: '/tmp' },
      { name: 'server-socket', mountPath: SOCKET_DIR, readOnly: true },
    ],
  };
}

function volumesOf({ spec }: ServerInput): readonly Volume[] {
  const { tlsSecretName } = spec.datastore;
  return [
    { name: 'server-config', configMap: { name: SERVER } },
    { name: 'controller-manager-config', configMap: { name: CONTROLLER_MANAGER } },
    { name: 'server-socket', emptyDir: {} },
    { name: 'server-tmp', emptyDir: {} },
    { name: 'controller-manager-tmp', emptyDir: {} },
    ...(tlsSecretName === undefined
      ? []
      : [{ name: 'datastore-tls', secret: { secretName: tlsSecretName, defaultMode: KEY_MODE } }]),
    ...(usesServingCert(spec) ? [{ name: 'serving-cert', secret: { secretName: SERVING_CERT } }] : []),
    ...vaultVolumes(spec),
  ];
}
