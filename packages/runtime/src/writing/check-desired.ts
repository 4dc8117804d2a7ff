import { type KubernetesObject, keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';

/** Metadata that only the server sets. */
const SERVER_METADATA = [
  'creationTimestamp',
  'deletionTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'uid',
] as const;

/** checkDesired rejects an object that cannot be intended, before anything is sent, and returns its key. */
export function checkDesired(verb: string, resource: Resource, desired: KubernetesObject): ObjectKey {
  const { name, namespace, ...metadata } = desired.metadata ?? {};
  const refuse = (problem: string): never => {
    throw new BowlineError('BOWLINE_WRITE_INVALID', `cannot ${verb} ${resource.kind} ${name ?? ''}: ${problem}`);
  };
  if (!name) refuse('metadata.name is missing; a name that the server generates would differ in every attempt');
  if (resource.scope === 'Namespaced' && !namespace) refuse('metadata.namespace is missing: the kind is namespaced');
  if (resource.scope === 'Cluster' && namespace) refuse('omit metadata.namespace: the kind is cluster-scoped');
  const stored = SERVER_METADATA.find((field) => metadata[field] !== undefined);
  if (stored) refuse(`omit metadata.${stored}: only the API server sets it`);
  if ('status' in desired && desired.status !== undefined) {
    refuse('omit status: it is not part of the desired state');
  }
  if (resource.kind === 'Secret' && resource.group === '' && 'stringData' in desired) {
    refuse('write data instead of stringData: the server adds stringData to data and never removes it');
  }
  return keyOf(desired);
}
