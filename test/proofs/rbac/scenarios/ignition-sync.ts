import { createHmac, generateKeyPairSync } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { IgnitionSync, ignitionSync, SyncProfile } from '@bowline/ignition-sync';
import {
  ConfigMap,
  type KubernetesObject,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@bowline/kubernetes';
import { systemRandom } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import {
  AGENT_CONTAINER,
  CR_ANNOTATIONS,
  GLOBAL_PAUSE,
  INJECTION_ANNOTATIONS,
  objectNames,
  POD_ANNOTATIONS,
} from '../../../../operators/ignition-sync/src/api/names.ts';
import { freePorts } from '../../../../packages/control-plane/src/ports.ts';
import { type GitServer, startGitServer } from '../../../support/git/git-server.ts';
import { startTokenApi, type TokenApi } from '../../../support/git/token-api.ts';
import { reportsDue } from '../../crash/scenarios/ignition-sync/agents.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

const SYNC = 'plant';
const PROFILE = 'edge';
const TOKEN = 'ghs_token';
const HOOK = 'hook-secret';
const RELEASE = 'release';
const IMAGE = 'example.test/bowline:1';
/** How long the receiver may take to read the secret of a new IgnitionSync. */
const RECEIVER_TIMEOUT_MS = 15_000;
/** How often a pod is created until it has an agent. */
const MAX_ATTEMPTS = 3;
/** The receiver limits how many requests it answers. */
const BETWEEN_REQUESTS_MS = 500;
const NAMES = objectNames(SYNC);
const APP = 'app';

/** Servers are what the operator uses besides the cluster. */
interface Servers {
  readonly git: GitServer;
  readonly api: TokenApi;
  /** The port of the receiver. */
  readonly port: number;
}

/** The objects of an IgnitionSync, each with a change that has to be reverted. */
const DRIFT: readonly { readonly kind: Resource<KubernetesObject>; readonly name: string; readonly body: object }[] = [
  { kind: Role, name: NAMES.agent, body: { rules: [] } },
  { kind: RoleBinding, name: NAMES.agent, body: { subjects: [] } },
  {
    kind: PersistentVolumeClaim,
    name: NAMES.claim,
    body: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'x' } } },
  },
];

/**
 * A repository is resolved with a token and as a GitHub App; gateways are injected, get their permissions and sync; objects are
 * repaired; everything is paused twice; a webhook requests another ref; and everything is deleted.
 */
async function play(stage: Stage, { git, api, port }: Servers): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: SYNC };
  await stage.until(ServiceAccount, { name: 'default' }, () => true);
  await createSecrets(stage, { git, api });
  const repo = `${git.url}/plant.git`;
  await createSync(stage, SYNC, {
    git: { repo, ref: 'main', caSecretRef: ref('ca'), auth: { token: { secretRef: ref('token') } } },
    storage: {},
    webhook: { secretRef: ref('hook') },
  });
  const spec = { mappings: [{ source: 'projects', destination: 'projects' }] };
  await admin.create(SyncProfile, SyncProfile.withDefaults({ metadata: { namespace, name: PROFILE }, spec }));
  await runGateway(stage, 'site-0');
  await syncGateways(stage, ['site-0']);
  await stage.until(SyncProfile, { name: PROFILE }, (profile) => {
    return findCondition(profile, 'Accepted')?.status === 'True' && profile.status?.gatewayCount === 1;
  });
  await repairsMetadata(stage);
  for (const { kind, name, body } of DRIFT) await repairs(stage, kind, { namespace, name }, body);
  await admin.create(ServiceAccount, { metadata: { namespace, name: 'another' } });
  await runGateway(stage, 'site-1', 'another');
  await stage.until(RoleBinding, { name: NAMES.agent }, ({ subjects }) => subjects?.length === 2);
  await syncGateways(stage, ['site-0', 'site-1']);
  for (const times of [1, 2]) await pauseAll(stage, times);
  await requestRef(stage, port);
  await stage.until(ConfigMap, { name: NAMES.metadata }, ({ data }) => data?.ref === RELEASE);
  await deliverToken(stage, repo, api);
  for (const name of [SYNC, APP]) {
    await admin.delete(IgnitionSync, { namespace, name });
    await stage.untilGone(IgnitionSync, { namespace, name });
  }
  for (const name of [NAMES.metadata, NAMES.status, NAMES.changes]) await stage.untilGone(ConfigMap, { name });
  await stage.untilGone(IgnitionSync, key);
}

const ref = (name: string) => ({ name, key: 'value' });

async function createSecrets({ admin, namespace }: Stage, { git, api }: Pick<Servers, 'git' | 'api'>): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const values = {
    'api-key': 'agent:secret',
    token: TOKEN,
    hook: HOOK,
    ca: `${git.ca}\n${api.ca}`,
    'app-key': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  for (const [name, value] of Object.entries(values)) {
    const data = { value: Buffer.from(value).toString('base64') };
    await admin.create(Secret, { metadata: { namespace, name }, data });
  }
}

type WrittenSpec = Parameters<typeof IgnitionSync.withDefaults>[0]['spec'];

async function createSync(
  { admin, namespace }: Stage,
  name: string,
  spec: Omit<WrittenSpec, 'gateway'>,
): Promise<void> {
  const gateway = { apiKeySecretRef: ref('api-key') };
  const object = IgnitionSync.withDefaults({ metadata: { namespace, name }, spec: { ...spec, gateway } });
  await admin.create(IgnitionSync, object);
}

/** runGateway creates a pod that requests an agent. No node runs it here. */
async function runGateway(stage: Stage, name: string, serviceAccountName = 'default'): Promise<void> {
  const { admin, namespace } = stage;
  const annotations = {
    [POD_ANNOTATIONS.inject]: 'true',
    [POD_ANNOTATIONS.crName]: SYNC,
    [POD_ANNOTATIONS.syncProfile]: PROFILE,
  };
  const pod: Pod = {
    metadata: { namespace, name, annotations },
    spec: {
      schedulerName: 'nobody',
      serviceAccountName,
      containers: [{ name: 'gateway', image: IMAGE, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  };
  // The webhook is ignored if it does not answer in time: then the pod has to be recreated, as the documentation says.
  for (let attempt = 1; !isInjected(await admin.create(Pod, pod)); attempt++) {
    if (attempt === MAX_ATTEMPTS) throw new Error(`no agent was injected into ${name}`);
    await admin.delete(Pod, { namespace, name });
    await stage.untilGone(Pod, { name });
  }
  const agent = { name: AGENT_CONTAINER, image: IMAGE, imageID: '', ready: true, restartCount: 0, state: {} };
  const body = { status: { phase: 'Running', initContainerStatuses: [agent] } };
  await admin.patch(Pod, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}

function isInjected({ metadata }: Pod): boolean {
  return metadata?.annotations?.[INJECTION_ANNOTATIONS.injected] !== undefined;
}

/** syncGateways reports as agents do, and waits until the IgnitionSync is ready. */
async function syncGateways(stage: Stage, pods: readonly string[]): Promise<void> {
  const { admin, namespace } = stage;
  const { data } = await stage.until(ConfigMap, { name: NAMES.metadata }, ({ data: told }) =>
    pods.every((pod) => told?.plan?.includes(pod)),
  );
  const { reports } = reportsDue(data, undefined, { snapshotCommit: '' });
  await admin.patch(ConfigMap, { namespace, name: NAMES.status }, { type: 'merge', body: { data: reports } });
  await stage.until(IgnitionSync, { name: SYNC }, ({ status, ...sync }) => {
    const isReady = findCondition({ ...sync, status }, 'Ready')?.status === 'True';
    return isReady && status?.discoveredGateways?.length === pods.length;
  });
}

/** repairsMetadata waits until agents are told the commit again. Their plan may have changed meanwhile. */
async function repairsMetadata({ admin, namespace, until }: Stage): Promise<void> {
  const key = { namespace, name: NAMES.metadata };
  const commit = (await admin.get(ConfigMap, key)).data?.commit;
  await admin.patch(ConfigMap, key, { type: 'merge', body: { data: { commit: 'damaged' } } });
  await until(ConfigMap, key, ({ data }) => data?.commit === commit);
}

/** repairs waits until a change is reverted: the object has its content again, except for its metadata. */
async function repairs(
  stage: Stage,
  kind: Resource<KubernetesObject>,
  key: { readonly namespace: string; readonly name: string },
  body: object,
): Promise<void> {
  const before = contentOf(await stage.until(kind, key, () => true));
  await stage.admin.patch(kind, key, { type: 'merge', body });
  await stage.until(kind, key, (object) => isDeepStrictEqual(contentOf(object), before));
}

function contentOf(object: KubernetesObject): readonly unknown[] {
  const { metadata = {}, status: _, ...content } = object as KubernetesObject & { readonly status?: unknown };
  return [metadata.labels, content];
}

/** pauseAll pauses every IgnitionSync and ends that. The second time the count of the event is increased. */
async function pauseAll(stage: Stage, times: number): Promise<void> {
  const { admin, managerNamespace } = stage;
  const untilPaused = (isPaused: boolean) =>
    stage.until(
      IgnitionSync,
      { name: SYNC },
      (sync) => (findCondition(sync, 'Ready')?.reason === 'Paused') === isPaused,
    );
  const metadata = { namespace: managerNamespace, name: GLOBAL_PAUSE.name };
  // The same event in two runs without a pause between them is sent once.
  await stage.idle();
  await admin.create(ConfigMap, { metadata, data: { [GLOBAL_PAUSE.key]: 'true' } });
  await untilPaused(true);
  await untilEvent(stage, 'Paused', times);
  await stage.idle();
  await admin.delete(ConfigMap, metadata);
  await untilPaused(false);
}

/** requestRef sends a webhook, as soon as the receiver has read the secret of the IgnitionSync. */
async function requestRef(stage: Stage, port: number): Promise<void> {
  const body = JSON.stringify({ ref: RELEASE });
  const signature = createHmac('sha256', HOOK).update(body).digest('hex');
  const send = async (): Promise<number> => {
    const url = `http://127.0.0.1:${port}/webhook/${stage.namespace}/${SYNC}`;
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  const end = performance.now() + RECEIVER_TIMEOUT_MS;
  let status = await send();
  while (status >= 400) {
    if (performance.now() > end) throw new Error(`the receiver answers ${status}`);
    await pause(BETWEEN_REQUESTS_MS);
    status = await send();
  }
  await stage.until(
    IgnitionSync,
    { name: SYNC },
    ({ metadata }) => metadata?.annotations?.[CR_ANNOTATIONS.requestedRef] === RELEASE,
  );
}

/** deliverToken authenticates as a GitHub App, and replaces a token of another installation. */
async function deliverToken(stage: Stage, repo: string, api: TokenApi): Promise<void> {
  const { admin, namespace } = stage;
  const githubApp = { appId: 1, installationId: 2, privateKeySecretRef: ref('app-key'), apiBaseURL: api.url };
  await createSync(stage, APP, { git: { repo, ref: 'main', caSecretRef: ref('ca'), auth: { githubApp } } });
  const name = objectNames(APP).githubToken;
  const installation = 'ignition-sync.io/token-installation';
  const { metadata } = await stage.until(Secret, { name }, ({ data }) => data?.token !== undefined);
  const annotate = (annotations: Readonly<Record<string, string>>) =>
    ({ type: 'merge', body: { metadata: { annotations } } }) as const;
  await admin.patch(Secret, { namespace, name }, annotate({ [installation]: 'another' }));
  await admin.patch(IgnitionSync, { namespace, name: APP }, annotate({ [CR_ANNOTATIONS.retry]: '1' }));
  const before = metadata?.annotations?.[installation];
  await stage.until(Secret, { name }, ({ metadata: now }) => now?.annotations?.[installation] === before);
}

export const ignitionSyncScenario: Scenario = {
  operator: ignitionSync,
  // Everything that needs a permission is enabled.
  open: async () => {
    const git = await startGitServer({ auth: { username: 'x-access-token', password: TOKEN } });
    const api = await startTokenApi(TOKEN);
    const repository = await git.repositories.create('plant.git');
    await repository.commit({ 'projects/overview/project.json': '{}' });
    await repository.commit({ 'projects/overview/project.json': '{"title":"x"}' }, { branch: RELEASE });
    const [port = 0] = await freePorts(1, systemRandom);
    return {
      config: {
        webhookReceiverPort: port,
        webhookReceiverHost: '127.0.0.1',
        githubApps: true,
        agentImage: IMAGE,
      },
      play: (stage) => play(stage, { git, api, port }),
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]();
        await git[Symbol.asyncDispose]();
      },
    };
  },
};
