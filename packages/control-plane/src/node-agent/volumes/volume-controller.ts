import {
  apiVersionOf,
  keyOf,
  keyString,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  parseKey,
  StorageClass,
} from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { isAlreadyExists, isConflict, isNotFound } from '@bowline/runtime/client';
import type { Controller } from '@bowline/runtime/controller';
import {
  FINALIZER,
  isProvisioned,
  isReleased,
  isRequested,
  PROVISIONER,
  provisionProblem,
  selectedNode,
  volumeFor,
  volumeNameFor,
  withoutSelectedNode,
} from './provisioner.ts';
import { type VolumeBehaviour, volumeBehaviourOf } from './volume-behaviour.ts';
import type { VolumeFolders } from './volume-folders.ts';

/** VolumeDeps holds the dependencies of the volume controller. */
export interface VolumeDeps {
  readonly folders: VolumeFolders;
}

// Keyed by the claims that wait for a volume, and by the volumes.
const sources = keyed('node-agent-volumes', { concurrency: 4 })
  .using<VolumeDeps>()
  .watches(PersistentVolumeClaim, { map: (claim) => (isRequested(claim) ? [claimKey(claim)] : []) })
  .watches(PersistentVolume, {
    indexes: { namespace: (volume: PersistentVolume) => [volume.spec?.claimRef?.namespace ?? ''] },
    map: (volume) => (isProvisioned(volume) ? [volumeKey(volume)] : []),
  })
  .watches(Namespace, {
    view: 'metadata',
    map: ({ metadata }, cache) => [
      ...cache.list(PersistentVolumeClaim, { namespace: metadata.name }).filter(isRequested).map(claimKey),
      ...cache
        .list(PersistentVolume, { by: { namespace: metadata.name ?? '' } })
        .filter(isProvisioned)
        .map(volumeKey),
    ],
  })
  .reports(PersistentVolumeClaim)
  .reports(PersistentVolume);

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** volumeController provisions a folder for every claim of a StorageClass with its provisioner, and deletes it again. */
export function volumeController(): Controller<VolumeDeps> {
  return sources.reconcile(async (context) => {
    const [kind, key = ''] = context.key.split(' ');
    if (kind === 'claim') {
      const claim = context.get(PersistentVolumeClaim, parseKey(key));
      if (claim && isRequested(claim)) await provision(context, claim);
    } else {
      const volume = context.get(PersistentVolume, { name: key });
      if (volume && isProvisioned(volume)) await reclaim(context, volume);
    }
  });
}

async function provision(context: Context, claim: PersistentVolumeClaim): Promise<void> {
  const { live, deps, eventAbout } = context;
  const { uid = '', name = '', namespace } = claim.metadata ?? {};
  const className = claim.spec?.storageClassName ?? '';
  const storageClass = await live.find(StorageClass, { name: className });
  if (storageClass?.provisioner !== PROVISIONER) return;
  const nodeName = selectedNode(claim);
  if (nodeName === undefined && storageClass.volumeBindingMode === 'WaitForFirstConsumer') return;
  const behaviour = await behaviourNow(context, claim);
  if (behaviour?.do === 'hold') return;

  const subject = {
    apiVersion: apiVersionOf(PersistentVolumeClaim),
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name, uid },
  };
  const node = nodeName === undefined ? undefined : await live.find(Node, { name: nodeName });
  const problem =
    failureOf(behaviour) ??
    provisionProblem(claim, storageClass) ??
    (nodeName !== undefined && !node ? `the selected node "${nodeName}" does not exist` : undefined);
  if (problem !== undefined) {
    const message = `failed to provision volume with StorageClass "${className}": ${problem}`;
    eventAbout(subject, 'Warning', 'ProvisioningFailed', message);
    if (nodeName === undefined) return;
    const body = withoutSelectedNode(claim);
    await live.patch(PersistentVolumeClaim, keyOf(claim), { type: 'merge', body }).catch(ignoreChanged);
    return;
  }
  const path = await deps.folders.create(volumeNameFor(claim));
  await live.create(PersistentVolume, volumeFor(claim, storageClass, { path, node })).catch((error: unknown) => {
    // An earlier run created it, and the controller manager has not bound it yet.
    if (!isAlreadyExists(error)) throw error;
  });
  const message = `Successfully provisioned volume ${volumeNameFor(claim)}`;
  eventAbout(subject, 'Normal', 'ProvisioningSucceeded', message);
}

async function reclaim(context: Context, volume: PersistentVolume): Promise<void> {
  const { live, deps, eventAbout } = context;
  const { uid = '', name = '', resourceVersion, deletionTimestamp, finalizers = [] } = volume.metadata ?? {};
  if (isReleased(volume)) {
    const { claimRef } = volume.spec ?? {};
    const behaviour = await behaviourNow(context, {
      metadata: { namespace: claimRef?.namespace, name: claimRef?.name },
    });
    if (behaviour?.do === 'hold') return;
    const problem = failureOf(behaviour);
    if (problem !== undefined) {
      const subject = { apiVersion: apiVersionOf(PersistentVolume), kind: 'PersistentVolume', metadata: { name, uid } };
      eventAbout(subject, 'Warning', 'VolumeFailedDelete', problem);
      return;
    }
    await deps.folders.remove(name, volume.spec?.hostPath?.path);
    if (deletionTimestamp === undefined) {
      // The finalizer is removed in the next run.
      await live.delete(PersistentVolume, { name }, { preconditions: { uid } }).catch(ignoreChanged);
      return;
    }
  }
  // The folder of a retained volume stays, also when the volume is deleted.
  if (deletionTimestamp === undefined || volume.status?.phase === 'Bound' || !finalizers.includes(FINALIZER)) return;
  const body = { metadata: { uid, resourceVersion, finalizers: finalizers.filter((each) => each !== FINALIZER) } };
  await live.patch(PersistentVolume, { name }, { type: 'merge', body }).catch(ignoreChanged);
}

/**
 * behaviourNow reads the steering from the server before anything is written: it must apply even if the watch of the
 * Namespace lags behind.
 */
async function behaviourNow({ live }: Context, claim: PersistentVolumeClaim): Promise<VolumeBehaviour | undefined> {
  const namespace = await live.find(Namespace, { name: claim.metadata?.namespace ?? '' });
  return volumeBehaviourOf(claim, namespace);
}

function failureOf(behaviour: VolumeBehaviour | undefined): string | undefined {
  if (behaviour?.do !== 'fail') return undefined;
  return behaviour.message ?? 'the node agent is instructed to fail';
}

/** The object was deleted or changed: the watch will report it. */
function ignoreChanged(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

function claimKey(claim: PersistentVolumeClaim): string {
  return `claim ${keyString(keyOf(claim))}`;
}

function volumeKey({ metadata }: PersistentVolume): string {
  return `volume ${metadata?.name ?? ''}`;
}
