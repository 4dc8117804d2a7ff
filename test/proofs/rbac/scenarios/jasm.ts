import { jasm } from '@bowline/jasm';
import {
  DaemonSet,
  Deployment,
  type KubernetesObject,
  Pod,
  type PodTemplateSpec,
  ReplicaSet,
  type Resource,
  Secret,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

const PREFIX = 'jasm.codnod.io';
const TEMPLATE_HASH = 'abc123';
const STORE = 'jasm-mock';

interface Templated extends KubernetesObject {
  readonly spec?: { readonly template?: KubernetesObject | undefined } | undefined;
}

/** The requesting workloads: one kind each, with the object that controls its pods. */
const WORKLOADS: readonly {
  readonly kind: Resource<Templated>;
  readonly name: string;
  readonly hasReplicaSet?: true;
}[] = [
  { kind: Deployment, name: 'web', hasReplicaSet: true },
  { kind: StatefulSet, name: 'db' },
  { kind: DaemonSet, name: 'agent' },
];

/**
 * Secrets are created for the pods of three workloads, follow their source, restart the workloads twice, and are deleted with the
 * pods.
 */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace, managerNamespace } = stage;
  await stage.until(ServiceAccount, { name: 'default' }, () => true);
  await admin.create(Secret, { metadata: { namespace: managerNamespace, name: STORE }, data: stored('red') });
  for (const { kind, name, hasReplicaSet } of WORKLOADS) {
    const made = await admin.create(kind, workload(namespace, name, name));
    const replicas = hasReplicaSet
      ? await admin.create(ReplicaSet, workload(namespace, `${name}-${TEMPLATE_HASH}`, name))
      : undefined;
    await admin.create(Pod, requestingPod(namespace, name, replicas ?? made, replicas ? ReplicaSet : kind));
  }
  const untilAll = async (color: string): Promise<void> => {
    const data = Buffer.from(color).toString('base64');
    for (const { name } of WORKLOADS) await stage.until(Secret, { name }, (secret) => secret.data?.color === data);
  };
  await untilAll('red');
  await untilEvent(stage, 'SecretSyncSuccess', 1);

  for (const [index, color] of ['green', 'blue'].entries()) {
    await admin.patch(
      Secret,
      { namespace: managerNamespace, name: STORE },
      { type: 'merge', body: { data: stored(color) } },
    );
    for (const { kind, name } of WORKLOADS) {
      const before = restartReason(await admin.get(kind, { namespace, name }));
      const body = { metadata: { annotations: { [`${PREFIX}/force-sync`]: color } } };
      await admin.patch(Pod, { namespace, name }, { type: 'merge', body });
      await stage.until(kind, { name }, (each) => ![undefined, before].includes(restartReason(each)));
    }
    await untilAll(color);
    // The second time its count is increased.
    await untilEvent(stage, 'SecretSyncSuccess', index + 1);
  }
  for (const { name } of WORKLOADS) {
    await admin.delete(Pod, { namespace, name });
    await stage.untilGone(Secret, { name });
  }
}

function stored(color: string): Readonly<Record<string, string>> {
  return { 'values.json': Buffer.from(JSON.stringify({ '/paint': { color } })).toString('base64') };
}

function workload(namespace: string, name: string, secretName: string) {
  const labels = { app: name };
  const template: PodTemplateSpec = {
    metadata: { labels, annotations: asks(secretName) },
    spec: { containers: [{ name: 'main', image: 'example.test/main:1' }] },
  };
  return { metadata: { namespace, name }, spec: { selector: { matchLabels: labels }, template } };
}

function asks(secretName: string): Readonly<Record<string, string>> {
  return {
    [`${PREFIX}/secret-sync`]: `provider: mock\npath: /paint\nsecretName: ${secretName}\ndeletionPolicy: Delete\n`,
  };
}

/** No controller creates the pods of workloads here. */
function requestingPod(
  namespace: string,
  name: string,
  owner: KubernetesObject,
  { group, version, kind }: Resource,
): Pod {
  const { name: ownerName = '', uid = '' } = owner.metadata ?? {};
  return {
    metadata: {
      namespace,
      name,
      labels: { 'pod-template-hash': TEMPLATE_HASH },
      annotations: asks(name),
      ownerReferences: [{ apiVersion: `${group}/${version}`, kind, name: ownerName, uid, controller: true }],
    },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'example.test/main:1' }] },
  };
}

/** restartReason returns the reason for which a workload was restarted. */
function restartReason({ metadata, spec }: Templated): string | undefined {
  return spec?.template?.metadata?.annotations?.[`${PREFIX}/restarted-for-${metadata?.name}`];
}

export const jasmScenario: Scenario = {
  operator: jasm,
  // Everything that needs a permission is enabled.
  open: () => ({
    config: {
      allowAllPaths: true,
      allowDeletion: true,
      deletionGrace: '0s',
      allowRestart: true,
      restart: true,
      restartInterval: '0s',
      mock: { enabled: true },
    },
    play,
  }),
};
