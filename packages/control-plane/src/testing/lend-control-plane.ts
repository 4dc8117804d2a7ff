import { CustomResourceDefinition, type KubernetesObject, keyOf, Namespace, type Resource } from '@bowline/kubernetes';
import { type Client, isNotFound } from '@bowline/runtime/client';
import { connectClient } from '../connect-client.ts';
import type { ControlPlane, ControlPlaneAccess } from '../control-plane.ts';
import { startControlPlane } from '../start-control-plane.ts';
import { forgetAcceptedOwners } from './accepted-owners.ts';
import { type Contents, readContents, removeLeftovers } from './leftovers.ts';
import { sharedKind } from './shared-control-plane.ts';
import { waitFor } from './wait-for.ts';

/** LentControlPlane is a control plane that one test uses exclusively until it releases it. */
export interface LentControlPlane {
  readonly controlPlane: ControlPlaneAccess;
  /** Whether the next test gets it. Then the namespaces of the test cluster are not deleted. */
  readonly isReused: boolean;
  release(): Promise<void>;
}

/** Reusable is a real control plane that no test of this worker uses at the moment. It ends with the process. */
interface Reusable {
  readonly controlPlane: ControlPlane;
  /** What it contained before the first test. */
  readonly initial: Contents;
  /**
   * The names of the installed CustomResourceDefinitions, all of them as they were created, in order. Defaults to
   * unknown.
   */
  readonly definitions?: string | undefined;
}

const free: Reusable[] = [];

/**
 * lendControlPlane returns a control plane for exclusive use by a test that installs the given definitions, of the kind
 * that the run shares. An embedded one is started for each test and stopped with it. A real one takes seconds to start:
 * it is emptied, and lent to the next test of the worker. If that test installs the same definitions, they and the
 * namespaces stay: the API server takes up to 30 s to accept a new kind as an owner.
 */
export async function lendControlPlane(definitions: readonly string[]): Promise<LentControlPlane> {
  const kind = await sharedKind();
  if (kind === 'embedded') {
    const controlPlane = await startControlPlane({ kind });
    return { controlPlane, isReused: false, release: () => controlPlane.stop() };
  }
  const { controlPlane, initial } = await takeReusable([...new Set(definitions)].sort().join(' '));
  return {
    controlPlane,
    isReused: true,
    release: () =>
      asAdmin(controlPlane, async (admin) => {
        await removeLeftovers(admin, initial);
        free.push({ controlPlane, initial, definitions: await unchangedDefinitions(admin) });
      }),
  };
}

async function takeReusable(definitions: string): Promise<Reusable> {
  const same = free.findIndex((each) => each.definitions === definitions);
  // -1 is the last one.
  const [reusable] = free.splice(same, 1);
  if (!reusable) {
    const controlPlane = await startControlPlane({ kind: 'kubernetes' });
    return { controlPlane, initial: await asAdmin(controlPlane, readContents) };
  }
  if (same === -1) {
    await asAdmin(reusable.controlPlane, empty);
    forgetAcceptedOwners(reusable.controlPlane.url);
  }
  return reusable;
}

/** asAdmin stops a control plane that cannot be emptied. */
async function asAdmin<T>(controlPlane: ControlPlane, work: (admin: Client) => Promise<T>): Promise<T> {
  try {
    await using admin = await connectClient(await controlPlane.kubeconfig('admin'), { component: 'test' });
    return await work(admin);
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
}

/** unchangedDefinitions returns the names of the definitions, or undefined if one of them was changed. */
async function unchangedDefinitions(admin: Client): Promise<string | undefined> {
  const { items } = await admin.list(CustomResourceDefinition, { metadataOnly: true });
  if (items.some(({ metadata }) => metadata?.generation !== 1 || metadata.deletionTimestamp)) return undefined;
  return items
    .map(({ metadata }) => metadata?.name ?? '')
    .sort()
    .join(' ');
}

/** The namespaces that exist in every control plane. */
const SYSTEM = /^(?:default|kube-.*)$/;

/** empty removes the definitions and namespaces of earlier tests, which contain nothing. */
async function empty(admin: Client): Promise<void> {
  for (const kind of [CustomResourceDefinition, Namespace] as const) {
    const { items } = await admin.list<KubernetesObject>(kind, { metadataOnly: true });
    for (const object of items.filter(({ metadata }) => !SYSTEM.test(metadata?.name ?? ''))) {
      await admin.delete<KubernetesObject>(kind, keyOf(object)).catch(ignoreNotFound);
    }
  }
  await waitFor('the kinds and namespaces of earlier tests to be deleted', async () => {
    const namespaces = (await admin.list(Namespace)).items;
    const kinds = (await admin.list(CustomResourceDefinition)).items;
    return kinds.length === 0 && namespaces.every(({ metadata }) => SYSTEM.test(metadata?.name ?? ''));
  });
}

/** dropFinalizers removes all finalizers from the objects of a kind that `isSelected` selects. */
export async function dropFinalizers(
  admin: Client,
  kind: Resource<KubernetesObject>,
  isSelected: (object: KubernetesObject) => boolean,
): Promise<void> {
  const { items } = await admin.list(kind);
  for (const object of items.filter((each) => each.metadata?.finalizers?.length && isSelected(each))) {
    const body = { metadata: { finalizers: null } };
    await admin.patch(kind, keyOf(object), { type: 'merge', body }).catch(ignoreNotFound);
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
