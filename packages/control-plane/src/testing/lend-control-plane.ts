import {
  CustomResourceDefinition,
  type KubernetesObject,
  keyOf,
  MutatingWebhookConfiguration,
  Namespace,
  type Resource,
  resource,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { type Client, isNotFound } from '@bowline/runtime/client';
import { connectClient } from '../connect-client.ts';
import type { ControlPlane, ControlPlaneAccess } from '../control-plane.ts';
import { startControlPlane } from '../start-control-plane.ts';
import { forgetAcceptedOwners } from './accepted-owners.ts';
import { sharedControlPlane } from './shared-control-plane.ts';
import { waitFor } from './wait-for.ts';

/** LentControlPlane is a control plane that one test uses exclusively until it releases it. */
export interface LentControlPlane {
  readonly controlPlane: ControlPlaneAccess;
  release(): Promise<void>;
}

/** Real control planes that no test of this worker uses at the moment. They end with the process. */
const free: ControlPlane[] = [];

/**
 * lendControlPlane returns a control plane for exclusive use by a test, of the kind that the run shares. An embedded
 * one is started for each test and stopped with it. A real one takes seconds to start: it is emptied, and lent to the
 * next test of the worker.
 */
export async function lendControlPlane(): Promise<LentControlPlane> {
  const { kind } = await sharedControlPlane();
  if (kind === 'embedded') {
    const controlPlane = await startControlPlane({ kind });
    return { controlPlane, release: () => controlPlane.stop() };
  }
  const controlPlane = free.pop() ?? (await startControlPlane({ kind }));
  return {
    controlPlane,
    async release() {
      try {
        await using admin = await connectClient(await controlPlane.kubeconfig('admin'), { component: 'test' });
        await empty(admin);
        forgetAcceptedOwners(controlPlane.url);
        free.push(controlPlane);
      } catch (error) {
        await controlPlane.stop();
        throw error;
      }
    },
  };
}

/** The namespaces that exist in every control plane. */
const SYSTEM = /^(?:default|kube-.*)$/;

/** empty removes what a test may leave behind. What the test cluster itself created is already removed. */
async function empty(admin: Client): Promise<void> {
  // Webhooks and policies go first: no process serves the webhooks any more, and both may reject the other requests.
  await admin.deleteCollection(ValidatingWebhookConfiguration);
  await admin.deleteCollection(MutatingWebhookConfiguration);
  await admin.deleteCollection(ValidatingAdmissionPolicyBinding);
  await admin.deleteCollection(ValidatingAdmissionPolicy);
  const { items: definitions } = await admin.list(CustomResourceDefinition);
  for (const definition of definitions) {
    await emptyKind(admin, definition);
    await admin.delete(CustomResourceDefinition, keyOf(definition)).catch(ignoreNotFound);
  }
  const { items } = await admin.list(Namespace);
  for (const namespace of items.filter(({ metadata }) => !SYSTEM.test(metadata?.name ?? ''))) {
    await admin.delete(Namespace, keyOf(namespace)).catch(ignoreNotFound);
  }
  await waitFor('the objects that the test left behind to be deleted', async () => {
    const namespaces = (await admin.list(Namespace)).items;
    const kinds = (await admin.list(CustomResourceDefinition)).items;
    return kinds.length === 0 && namespaces.every(({ metadata }) => SYSTEM.test(metadata?.name ?? ''));
  });
}

/** emptyKind removes the finalizers of all objects of a kind: no controller is left to remove them. */
async function emptyKind(admin: Client, { spec }: CustomResourceDefinition): Promise<void> {
  const { group, names, scope, versions } = spec;
  const version = versions.find(({ served }) => served)?.name;
  if (version === undefined) return;
  const kind: Resource<KubernetesObject> = resource<KubernetesObject>()({
    group,
    version,
    kind: names.kind,
    plural: names.plural,
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
  });
  await dropFinalizers(admin, kind, () => true);
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
