import type { KubernetesObject, Resource, StatusCause } from '@bowline/kubernetes';
import { CustomResourceDefinition, resource } from '@bowline/kubernetes';
import { ApiError, type Client } from '@bowline/runtime/client';

/** Verdict is the API server's response to a write: the causes of a rejection, or none. */
export interface Verdict {
  /** The HTTP status; 200 for accepted. */
  readonly status: number;
  readonly message: string;
  readonly causes: readonly { readonly field: string; readonly reason: string; readonly message: string }[];
  /** The object as the server would store it. */
  readonly object?: KubernetesObject;
}

/** ProbeKind is a kind created for one schema. */
export interface ProbeKind {
  readonly resource: Resource<KubernetesObject>;
  readonly name: string;
}

const GROUP = 'probe.bowline.dev';

/** probeKind returns the names of the kind of a schema; `label` must be unique among the kinds of a control plane. */
export function probeKind(label: string): ProbeKind {
  const plural = `${label}s`;
  const kind = `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
  return {
    resource: resource({ group: GROUP, version: 'v1', kind, plural, scope: 'Cluster' }),
    name: `${plural}.${GROUP}`,
  };
}

/** definitionOf returns the CustomResourceDefinition of a kind. */
export function definitionOf(probe: ProbeKind, root: object): CustomResourceDefinition {
  const { kind, plural } = probe.resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: probe.name },
    spec: {
      group: GROUP,
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: root } }],
    },
  };
}

/** createKind installs the CRD of a schema, or returns why the API server rejects it. */
export async function createKind(client: Client, probe: ProbeKind, root: object, dryRun = false): Promise<Verdict> {
  return verdictOf(() => client.create(CustomResourceDefinition, definitionOf(probe, root), { dryRun }));
}

/** changeKind replaces the schema of an installed kind. */
export async function changeKind(client: Client, probe: ProbeKind, root: object): Promise<Verdict> {
  const current = await client.get(CustomResourceDefinition, { name: probe.name });
  const { metadata } = current;
  return verdictOf(() => client.update(CustomResourceDefinition, { ...definitionOf(probe, root), metadata }));
}

/** removeKind uninstalls a kind. */
export async function removeKind(client: Client, probe: ProbeKind): Promise<void> {
  await client.delete(CustomResourceDefinition, { name: probe.name });
}

/** probeObject returns an object of a kind. */
export function probeObject(probe: ProbeKind, fields: object, name = 'probe'): KubernetesObject {
  const { group, version, kind } = probe.resource;
  return { ...fields, apiVersion: `${group}/${version}`, kind, metadata: { name } };
}

/** tryCreate checks whether an object would be accepted, without storing it. It waits for a kind that is not served yet. */
export async function tryCreate(
  client: Client,
  probe: ProbeKind,
  object: KubernetesObject,
  dryRun = true,
): Promise<Verdict> {
  for (let attempt = 0; ; attempt++) {
    const verdict = await verdictOf(() => client.create(probe.resource, object, { dryRun, fieldValidation: 'Ignore' }));
    if (![404, 429].includes(verdict.status) || attempt >= 200) return verdict;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** tryUpdate checks whether a change of a stored object would be accepted, without storing it. */
export async function tryUpdate(client: Client, probe: ProbeKind, object: KubernetesObject): Promise<Verdict> {
  const stored = await client.get(probe.resource, { name: object.metadata?.name ?? '' });
  const changed = { ...object, metadata: stored.metadata } as KubernetesObject;
  return verdictOf(() => client.update(probe.resource, changed, { dryRun: true, fieldValidation: 'Ignore' }));
}

/** verdictOf sends a request to the API server; a rejection is a result too. */
export async function verdictOf(ask: () => Promise<KubernetesObject>): Promise<Verdict> {
  try {
    return { status: 200, message: '', causes: [], object: await ask() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const causes = error.details?.causes ?? [];
    return { status: error.status, message: error.message, causes: causes.map(plainCause) };
  }
}

function plainCause({ field = '', reason = '', message = '' }: StatusCause): Verdict['causes'][number] {
  return { field, reason, message };
}
