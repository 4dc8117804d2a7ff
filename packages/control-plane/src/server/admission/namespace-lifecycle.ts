import type { Namespace } from '@bowline/kubernetes';
import { forbidden, notFound } from '../status/api-status.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf, type Stored } from '../storage/stored.ts';
import type { AdmissionPlugin } from './admission.ts';
import { refuse } from './admission.ts';

/** Namespaces that cannot be deleted. */
const UNDELETABLE: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Caches whether a stored namespace is terminating. Most writes check it, so each stored state is parsed once. */
const terminating = new WeakMap<Stored, boolean>();

/**
 * namespaceLifecycle rejects objects in namespaces that are missing or terminating, and the deletion of namespaces that
 * must remain.
 */
export function namespaceLifecycle(storage: Storage): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate(request) {
      const { operation, resource, namespace, name } = request;
      if (resource.resource === 'namespaces' && resource.group === '') {
        if (operation === 'DELETE' && UNDELETABLE.has(name))
          throw forbidden(resource, name, 'this namespace may not be deleted');
        return;
      }
      // Objects may always be deleted, and an access review needs no existing namespace.
      if (namespace === '' || operation === 'DELETE' || resource.resource === 'localsubjectaccessreviews') return;
      const stored = storage.get('namespaces', keyIn('', namespace));
      if (!stored) throw notFound({ group: '', resource: 'namespaces' }, namespace);
      if (operation !== 'CREATE' || !isTerminating(stored)) return;
      throw refuse(request, `unable to create new content in namespace ${namespace} because it is being terminated`, [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ]);
    },
  };
}

function isTerminating(stored: Stored): boolean {
  const known = terminating.get(stored);
  if (known !== undefined) return known;
  const is = (objectOf(stored) as Namespace).status?.phase === 'Terminating';
  terminating.set(stored, is);
  return is;
}
