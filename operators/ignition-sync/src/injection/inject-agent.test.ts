import type { Container, Pod } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER } from '../api/names.ts';
import { minimal } from '../api/specs.test-support.ts';
import { type InjectionOptions, injectAgent } from './inject-agent.ts';

const sync = (changes: object = {}, name = 'plant'): IgnitionSync =>
  IgnitionSync.withDefaults({ metadata: { name, namespace: 'a' }, spec: minimal(changes) });
const withGit = (changes: object): IgnitionSync => sync({ git: { ...minimal().git, ...changes } });

const gateway: Container = {
  name: 'gateway',
  image: 'inductiveautomation/ignition',
  volumeMounts: [{ name: 'data', mountPath: '/usr/local/bin/ignition/data' }],
};

/** podWith returns a pod that requests an agent. */
function podWith(
  annotations: Readonly<Record<string, string>> = {},
  spec: Partial<NonNullable<Pod['spec']>> = {},
  labels: Readonly<Record<string, string>> = {},
): Pod {
  const prefixed = Object.entries({ inject: 'true', ...annotations }).map(([name, value]) => [
    `ignition-sync.io/${name}`,
    value,
  ]);
  return {
    metadata: { namespace: 'a', name: 'site-0', annotations: Object.fromEntries(prefixed), labels },
    spec: { containers: [gateway], volumes: [{ name: 'data', emptyDir: {} }], ...spec },
  };
}

const OPTIONS: InjectionOptions = {
  syncs: [sync()],
  untrusted: undefined,
  config: { agentUser: 2003, maxRepositoryMiB: 100 },
  image: 'example.com/bowline:1',
};

function injected(pod: Pod, options: Partial<InjectionOptions> = {}) {
  const injection = injectAgent(pod, { ...OPTIONS, ...options });
  if (injection.result !== 'injected') throw new Error(JSON.stringify(injection));
  const { initContainers = [], volumes = [] } = injection.pod.spec ?? {};
  const agent = initContainers[0];
  if (agent === undefined) throw new Error('the pod has no init containers');
  const flags = Object.fromEntries((agent.args ?? []).slice(2).map((each) => each.slice(2).split(/=(.*)/s, 2)));
  return { pod: injection.pod, warnings: injection.warnings, agent, flags, volumes };
}

it('injects a native sidecar before all other init containers, and changes nothing else', () => {
  const other: Container = { name: 'prepare', image: 'busybox' };
  const pod = podWith({ 'service-path': 'services/site' }, { initContainers: [other], nodeName: 'n' });
  const { pod: result, agent, volumes } = injected(pod);
  expect(agent).toMatchObject({ name: AGENT_CONTAINER, restartPolicy: 'Always', image: 'example.com/bowline:1' });
  expect(result.spec?.initContainers?.slice(1)).toEqual([other]);
  expect(result.spec).toEqual({
    ...pod.spec,
    initContainers: [agent, other],
    volumes: [...(pod.spec?.volumes ?? []), ...volumes.slice(1)],
  });
  expect(result.metadata).toEqual({
    ...pod.metadata,
    annotations: {
      ...pod.metadata?.annotations,
      'ignition-sync.io/cr-name': 'plant',
      'ignition-sync.io/injected': 'true',
    },
    labels: { 'ignition-sync.io/agent': 'true' },
  });
});

it('passes the pod, the repository, the folders and the gateway to the agent', () => {
  const { agent, flags } = injected(podWith());
  expect(agent.args?.slice(0, 2)).toEqual(['ignition-sync', 'agent']);
  expect(flags).toEqual({
    cr: 'plant',
    'pod-name': '$(POD_NAME)',
    'pod-namespace': '$(POD_NAMESPACE)',
    'gateway-name': '$(POD_NAME)',
    repo: 'https://git.example.com/plant.git',
    'data-folder': '/usr/local/bin/ignition/data',
    'repo-folder': '/ignition-sync/repo',
    'scratch-folder': '/ignition-sync/scratch',
    'api-key-file': '/ignition-sync/api-key/api-key',
    'pod-info-folder': '/ignition-sync/pod-info',
    'gateway-port': '8043',
    'gateway-tls': 'true',
    'health-address': ':8082',
    'metrics-address': ':8083',
  });
  expect(agent.env).toEqual([
    { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } } },
  ]);
});

it('probes start, health and readiness, and gives five minutes to start', () => {
  const { startupProbe, livenessProbe, readinessProbe, ports, resources } = injected(podWith()).agent;
  const port = 'agent-health';
  expect(startupProbe).toEqual({ httpGet: { path: '/startupz', port }, periodSeconds: 2, failureThreshold: 150 });
  expect(livenessProbe).toEqual({ httpGet: { path: '/healthz', port }, periodSeconds: 10, failureThreshold: 3 });
  expect(readinessProbe).toEqual({ httpGet: { path: '/readyz', port }, periodSeconds: 5, failureThreshold: 3 });
  expect(ports).toEqual([
    { name: 'agent-health', containerPort: 8082 },
    { name: 'agent-metrics', containerPort: 8083 },
  ]);
  expect(resources).toEqual({ requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } });
});

it('takes image, pull policy and resources of the IgnitionSync, never of the pod', () => {
  const image = { repository: 'example.com/agent', tag: '2', digest: `sha256:${'a'.repeat(64)}`, pullPolicy: 'Always' };
  const syncs = [sync({ agent: { image, resources: { limits: { memory: 1024 } } } })];
  const { agent } = injected(podWith({ image: 'evil', 'agent-image': 'evil' }), { syncs, image: undefined });
  expect(agent.image).toBe(`example.com/agent:2@sha256:${'a'.repeat(64)}`);
  expect(agent.imagePullPolicy).toBe('Always');
  expect(agent.resources).toEqual({ limits: { memory: '1024' } });
});

it.each([
  ['the annotation', { 'gateway-name': 'Site A' }, { 'app.kubernetes.io/name': 'ignition' }, 'Site A'],
  ['the label', {}, { 'app.kubernetes.io/name': 'ignition' }, 'ignition'],
  ['the name of the pod', { 'gateway-name': '' }, {}, '$(POD_NAME)'],
  ['the annotation, of which the kubelet expands nothing', { 'gateway-name': 'a$(POD_NAME)$' }, {}, 'a$$(POD_NAME)$$'],
])('names the gateway by %s', (_, annotations, labels, name) => {
  expect(injected(podWith(annotations, {}, labels)).flags['gateway-name']).toBe(name);
});

it.each([
  ['10', '10'],
  ['0', undefined],
  ['3601', undefined],
  ['-1', undefined],
  ['often', undefined],
])('passes the sync period %j only if the agent can use it', (value, passed) => {
  expect(injected(podWith({ 'sync-period': value })).flags['sync-period']).toBe(passed);
});

it('is unchanged by a second admission', () => {
  const { pod } = injected(podWith());
  expect(injectAgent(pod, OPTIONS)).toEqual({ result: 'unchanged' });
  const brought = podWith({}, { containers: [gateway, { name: AGENT_CONTAINER }] });
  expect(injectAgent(brought, OPTIONS)).toEqual({ result: 'unchanged' });
});

const pair = [sync(), sync({}, 'mill')];
const leaving = { ...sync(), metadata: { name: 'plant', namespace: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' } };

it.each<readonly [string, Pod, Partial<InjectionOptions>, string]>([
  ['no IgnitionSync has that name', podWith({ 'cr-name': 'mill' }), {}, 'there is no IgnitionSync "mill"'],
  ['there is no IgnitionSync', podWith(), { syncs: [] }, 'there is no IgnitionSync in the namespace; create one'],
  ['the only one is being deleted', podWith(), { syncs: [leaving] }, 'there is no IgnitionSync'],
  ['there are several', podWith(), { syncs: pair }, 'there are 2 IgnitionSyncs in the namespace; name one'],
  ['no image is configured', podWith(), { image: undefined }, 'agent.image.repository of the IgnitionSync "plant"'],
  ['authors are not reviewed', podWith(), { untrusted: 'not reviewed' }, 'not reviewed'],
])('admits a pod with the reason if %s', (_, pod, options, reason) => {
  const injection = injectAgent(pod, { ...OPTIONS, ...options });
  if (injection.result !== 'not-injected') throw new Error(JSON.stringify(injection));
  expect(injection.reason).toContain(reason);
  const annotations = { ...pod.metadata?.annotations, 'ignition-sync.io/not-injected': injection.reason };
  expect(injection.pod).toEqual({ ...pod, metadata: { ...pod.metadata, annotations } });
});

it('injects a pod that was not injected by an earlier admission, and removes the reason', () => {
  const { pod } = injected(podWith({ 'not-injected': 'there was no IgnitionSync' }));
  expect(pod.metadata?.annotations).not.toHaveProperty('ignition-sync.io/not-injected');
});

it('selects the named one of several IgnitionSyncs', () => {
  expect(injected(podWith({ 'cr-name': 'mill' }), { syncs: pair }).flags.cr).toBe('mill');
});

it('injects into pods of a paused IgnitionSync and with an unknown profile: the gateway starts', () => {
  expect(injected(podWith({ 'sync-profile': 'unknown' }), { syncs: [sync({ paused: true })] }).flags.cr).toBe('plant');
});

const volumes = (...names: readonly string[]) => names.map((name) => ({ name, emptyDir: {} }));
const mounting = (...mounts: NonNullable<Container['volumeMounts']>) => [{ ...gateway, volumeMounts: mounts }];
const asUser = (runAsUser: number | undefined) => [{ ...gateway, securityContext: { runAsUser } }];

it.each<readonly [string, Pod, string]>([
  ['no data volume', podWith({}, { volumes: [] }), 'the pod has no data volume: neither "ignition-data" nor "data"'],
  ['another data volume', podWith({ 'data-volume': 'files' }), 'names the volume "files", which the pod does not have'],
  [
    'a data volume that is not mounted',
    podWith({}, { containers: mounting() }),
    'no container mounts the data volume "data"',
  ],
  ['an absolute service path', podWith({ 'service-path': '/etc' }), 'service-path is an absolute path'],
  ['a service path that leaves the repository', podWith({ 'service-path': 'a/../..' }), 'empty, "." or ".."'],
  ['a service path with a backslash', podWith({ 'service-path': 'a\\b' }), 'contains a backslash'],
  ['an empty service path', podWith({ 'service-path': '' }), 'must not be empty'],
  ['a container that runs as root', podWith({}, { containers: asUser(0) }), 'the container "gateway" runs as root'],
  ['a pod that runs as root', podWith({}, { securityContext: { runAsUser: 0 } }), 'runs as root'],
])('denies a pod with %s, also without an IgnitionSync', (_, pod, message) => {
  for (const syncs of [OPTIONS.syncs, []]) {
    expect(injectAgent(pod, { ...OPTIONS, syncs })).toEqual({
      result: 'denied',
      message: expect.stringContaining(message),
    });
  }
});

it.each(['.', 'services/site', 'services/{{.GatewayName}}'])('accepts the service path %s', (path) => {
  expect(injectAgent(podWith({ 'service-path': path }), OPTIONS).result).toBe('injected');
});

it.each<readonly [string, Pod, object]>([
  [
    'ignition-data before data',
    podWith(
      {},
      {
        volumes: volumes('data', 'ignition-data'),
        containers: mounting({ name: 'ignition-data', mountPath: '/i' }, { name: 'data', mountPath: '/d' }),
      },
    ),
    { name: 'ignition-data', mountPath: '/i' },
  ],
  [
    'the volume of the annotation',
    podWith(
      { 'data-volume': 'files' },
      { volumes: volumes('data', 'files'), containers: mounting({ name: 'files', mountPath: '/f' }) },
    ),
    { name: 'files', mountPath: '/f' },
  ],
  [
    'the same folder of the volume',
    podWith({}, { containers: mounting({ name: 'data', mountPath: '/d', subPath: 'gateways/site', readOnly: true }) }),
    { name: 'data', mountPath: '/d', subPath: 'gateways/site' },
  ],
  [
    'the mount of the first container that has one',
    podWith(
      {},
      {
        containers: [
          { name: 'proxy' },
          ...mounting({ name: 'data', mountPath: '/d' }),
          { name: 'last', volumeMounts: [{ name: 'data', mountPath: '/e' }] },
        ],
      },
    ),
    { name: 'data', mountPath: '/d' },
  ],
])('mounts %s', (_, pod, mount) => {
  const { agent, flags } = injected(pod);
  expect(agent.volumeMounts?.[0]).toEqual(mount);
  expect(flags['data-folder']).toBe((mount as { mountPath: string }).mountPath);
});

const SHARD = { name: 'SHARD', value: 'north' };

it('copies the variables of a subPathExpr', () => {
  const mount = { name: 'data', mountPath: '/d', subPathExpr: '$(SHARD)/$(POD_NAME)/$$(X)' };
  const podName = { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
  const env = [SHARD, podName, { name: 'PASSWORD', value: 'x' }];
  const { agent } = injected(podWith({}, { containers: [{ ...gateway, env, volumeMounts: [mount] }] }));
  expect(agent.volumeMounts?.[0]).toEqual(mount);
  expect(agent.env?.map(({ name }) => name)).toEqual(['POD_NAME', 'POD_NAMESPACE', 'SHARD']);
});

it.each([
  ['that is not known', [], 'the variable SHARD, which is not in env of the container "gateway"'],
  ['that the agent has another value for', [SHARD, { name: 'POD_NAME', value: 'x' }], 'needs for metadata.name'],
])('admits a pod without an agent whose subPathExpr has a variable %s', (_, env, reason) => {
  const volumeMounts = [{ name: 'data', mountPath: '/d', subPathExpr: '$(SHARD)/$(POD_NAME)' }];
  const injection = injectAgent(podWith({}, { containers: [{ ...gateway, env, volumeMounts }] }), OPTIONS);
  expect(injection).toMatchObject({ result: 'not-injected', reason: expect.stringContaining(reason) });
});

it.each<readonly [string, Pod, number, number]>([
  [
    'the container',
    podWith(
      {},
      {
        containers: [{ ...gateway, securityContext: { runAsUser: 5, runAsGroup: 6 } }],
        securityContext: { runAsUser: 7, runAsGroup: 8 },
      },
    ),
    5,
    6,
  ],
  ['the pod', podWith({}, { securityContext: { runAsUser: 7, runAsGroup: 8 } }), 7, 8],
  ['the operator', podWith(), 2003, 2003],
  [
    'the container, and the group of the pod',
    podWith({}, { containers: asUser(5), securityContext: { runAsUser: 0, runAsGroup: 0 } }),
    5,
    0,
  ],
])('runs as the user of %s, with all that pod security restricted requires', (_, pod, runAsUser, runAsGroup) => {
  expect(injected(pod).agent.securityContext).toEqual({
    runAsUser,
    runAsGroup,
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  });
});

it('has the SELinux labels of the gateway, without which it cannot write to the volume', () => {
  const seLinuxOptions = { level: 's0:c1,c2' };
  const { agent } = injected(podWith({}, { containers: [{ ...gateway, securityContext: { seLinuxOptions } }] }));
  expect(agent.securityContext?.seLinuxOptions).toEqual(seLinuxOptions);
});

it('uses other ports than those of the gateway', () => {
  const containers = [{ ...gateway, ports: [{ containerPort: 8082 }, { containerPort: 8084 }] }];
  const { agent, flags } = injected(podWith({}, { containers }));
  expect(agent.ports?.map(({ containerPort }) => containerPort)).toEqual([8083, 8085]);
  expect(flags).toMatchObject({ 'health-address': ':8083', 'metrics-address': ':8085' });
});

it('gives volumes another name if theirs is taken', () => {
  const taken = volumes('data', 'ignition-sync-repo', 'ignition-sync-token', 'ignition-sync-token-2');
  const { volumes: result, agent } = injected(podWith({}, { volumes: taken }));
  const names = result.map(({ name }) => name);
  expect(names).toEqual([
    ...taken.map(({ name }) => name),
    'ignition-sync-repo-2',
    'ignition-sync-scratch',
    'ignition-sync-api-key',
    'ignition-sync-token-3',
    'ignition-sync-pod-info',
  ]);
  expect(new Set(names).size).toBe(names.length);
  expect(agent.volumeMounts?.map(({ name }) => name).slice(1)).toEqual(names.slice(4));
});

/** volumeOf returns an injected volume. */
function volumeOf(purpose: string, options: Partial<InjectionOptions> = {}) {
  return injected(podWith(), options).volumes.find(({ name }) => name === `ignition-sync-${purpose}`);
}

it('mounts no volume with credentials for a public repository', () => {
  expect(volumeOf('git')).toBeUndefined();
  expect(volumeOf('git', { syncs: [withGit({ auth: {} })] })).toBeUndefined();
});

const secret = (name: string, key: string, path: string) => ({
  secret: { name, items: [{ key, path }], optional: true },
});
const SSH = 'git@git.example.com:plant.git';
const files = { name: 'files', key: 'f' };
const login = { name: 'login', key: 'k' };

it.each<readonly [string, object, readonly object[], Readonly<Record<string, string>>]>([
  [
    'a token',
    { auth: { token: { secretRef: login } } },
    [secret('login', 'k', 'token')],
    { 'git-token-file': '/ignition-sync/git/token' },
  ],
  [
    'a token and a CA',
    { auth: { token: { secretRef: login } }, caSecretRef: files },
    [secret('login', 'k', 'token'), secret('files', 'f', 'ca.crt')],
    { 'git-token-file': '/ignition-sync/git/token', 'ca-file': '/ignition-sync/git/ca.crt' },
  ],
  [
    'a deploy key and known hosts',
    { repo: SSH, auth: { sshKey: { secretRef: login, knownHosts: { secretRef: files } } } },
    [secret('login', 'k', 'ssh-key'), secret('files', 'f', 'known-hosts')],
    { 'git-ssh-key-file': '/ignition-sync/git/ssh-key', 'known-hosts-file': '/ignition-sync/git/known-hosts' },
  ],
  [
    'a GitHub App, whose private key the agent does not get',
    { auth: { githubApp: { appId: 1, installationId: 2, privateKeySecretRef: login } } },
    [secret('ignition-sync-github-token-plant', 'token', 'token')],
    { 'git-token-file': '/ignition-sync/git/token' },
  ],
  ['a CA alone', { caSecretRef: files }, [secret('files', 'f', 'ca.crt')], { 'ca-file': '/ignition-sync/git/ca.crt' }],
])('mounts only the named keys for %s, readable by every user', (_, git, sources, expected) => {
  const { volumes: result, agent, flags } = injected(podWith(), { syncs: [withGit(git)] });
  const volume = result.find(({ name }) => name === 'ignition-sync-git');
  expect(volume).toEqual({ name: 'ignition-sync-git', projected: { defaultMode: 0o444, sources } });
  expect(agent.volumeMounts).toContainEqual({
    name: 'ignition-sync-git',
    mountPath: '/ignition-sync/git',
    readOnly: true,
  });
  expect(flags).toMatchObject(expected);
  const gitFlags = ['git-token-file', 'git-ssh-key-file', 'known-hosts-file', 'ca-file'];
  expect(Object.keys(flags).filter((name) => gitFlags.includes(name))).toEqual(Object.keys(expected));
});

it('mounts the API key of the gateway, and the credentials of a snapshot store only if snapshots are stored there', () => {
  expect(volumeOf('api-key')?.projected).toEqual({ defaultMode: 0o444, sources: [secret('a', 'b', 'api-key')] });
  const s3 = { bucket: 'plant', credentialsSecretRef: { name: 'store' } };
  const snapshots = (enabled: boolean) => [sync({ snapshots: { enabled, storage: { type: 's3', s3 } } })];
  expect(volumeOf('s3', { syncs: snapshots(false) })).toBeUndefined();
  expect(volumeOf('s3', { syncs: snapshots(true) })?.projected?.sources).toEqual([
    secret('store', 'access-key-id', 'access-key-id'),
    secret('store', 'secret-access-key', 'secret-access-key'),
  ]);
  expect(injected(podWith(), { syncs: snapshots(true) }).flags['s3-credentials-folder']).toBe('/ignition-sync/s3');
});

it('has a token of its own, so that it works in pods that mount none', () => {
  const { volumes: result, agent } = injected(podWith({}, { automountServiceAccountToken: false }));
  expect(result.find(({ name }) => name === 'ignition-sync-token')?.projected).toEqual({
    defaultMode: 0o444,
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  });
  expect(agent.volumeMounts).toContainEqual({
    name: 'ignition-sync-token',
    mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
    readOnly: true,
  });
});

it('keeps the repository on the claim of the IgnitionSync, or in a limited volume of the pod', () => {
  const claimName = 'ignition-sync-repo-plant';
  expect(volumeOf('repo', { syncs: [sync({ storage: {} })] })?.persistentVolumeClaim).toEqual({ claimName });
  expect(volumeOf('repo')?.emptyDir).toEqual({ sizeLimit: '200Mi' });
  expect(volumeOf('scratch')?.emptyDir).toEqual({ medium: 'Memory', sizeLimit: '64Mi' });
});

it('warns of deploy keys without known hosts', () => {
  const auth = { sshKey: { secretRef: login } };
  const { warnings } = injected(podWith(), { syncs: [withGit({ repo: SSH, auth })] });
  expect(warnings).toEqual([expect.stringContaining('set git.auth.sshKey.knownHosts.secretRef')]);
  expect(injected(podWith()).warnings).toEqual([]);
});
