import type { Namespace } from '@bowline/kubernetes';
import { forbidden, notFound } from '../status/api-status.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf, type Stored } from '../storage/stored.ts';
import type { AdmissionPlugin } from './admission.ts';
import { refuse } from './admission.ts';

/** Namespaces that a cluster cannot do without. */
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Whether a state of a namespace is that of one which is going. Most writes ask, so each state is read once. */
const terminating = new WeakMap<Stored, boolean>();

/** namespaceLifecycle keeps objects out of namespaces that are not there or are going, and those that must stay from going. */
export function namespaceLifecycle(storage: Storage): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate(request) {
      const { operation, resource, namespace, name } = request;
      if (resource.resource === 'namespaces' && resource.group === '') {
        if (operation === 'DELETE' && IMMORTAL.has(name))
          throw forbidden(resource, name, 'this namespace may not be deleted');
        return;
      }
      // What is in a namespace may always go, and a question about one needs no namespace.
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
