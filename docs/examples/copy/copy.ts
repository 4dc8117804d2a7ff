import { createHash } from 'node:crypto';
import { ConfigMap } from '@bowline/kubernetes';
import { allow, defineOperator, keyed, project, slow } from '@bowline/runtime';
import { isAlreadyExists } from '@bowline/runtime/client';

/** The label on a source with the namespace to copy to. */
export const COPY_TO = 'example.com/copy-to';
/** The label on a copy with the namespace of its source. It identifies our copies. */
export const COPY_OF = 'example.com/copy-of';

/** summary is what the cache keeps of a ConfigMap: its identity, and a hash instead of its values. */
const summary = project(({ metadata = {}, data = {}, binaryData = {} }: ConfigMap) => {
  const { name = '', namespace = '', uid = '', resourceVersion = '', labels = {} } = metadata;
  const hash = createHash('sha256')
    .update(JSON.stringify([data, binaryData]))
    .digest('base64');
  return { name, namespace, uid, resourceVersion, copyTo: labels[COPY_TO], copyOf: labels[COPY_OF], hash };
});

/** The key is the source, `namespace/name`, even if only its copy is left: then the copy is deleted. */
const copies = keyed('copy', { concurrency: 4 })
  .watches(ConfigMap, {
    as: 'sources',
    labelSelector: COPY_TO,
    view: summary,
    map: (source) => [`${source.namespace}/${source.name}`],
  })
  .watches(ConfigMap, {
    as: 'copies',
    labelSelector: COPY_OF,
    view: summary,
    indexes: { source: (copy) => [`${copy.copyOf}/${copy.name}`] },
    map: (copy) => [`${copy.copyOf}/${copy.name}`],
  })
  .reconcile(async ({ key, get, list, live, log }) => {
    const [namespace = '', name = ''] = key.split('/');
    const source = get('sources', { namespace, name });

    for (const copy of list('copies', { by: { source: key } })) {
      if (copy.namespace === source?.copyTo) continue;
      await live.delete(ConfigMap, copy, { preconditions: { uid: copy.uid } });
      log.info('deleted a copy', { from: copy.namespace });
    }

    if (!source?.copyTo) return;
    const target = { namespace: source.copyTo, name };
    const copy = list('copies', { by: { source: key } }).find((each) => each.namespace === target.namespace);
    if (copy?.hash === source.hash) return;

    const values = await live.find(ConfigMap, { namespace, name });
    if (!values) return;
    const { data = {}, binaryData = {} } = values;
    const metadata = { ...target, labels: { [COPY_OF]: namespace } };
    if (copy) {
      // Fails with a conflict if the object was changed or recreated since it was read.
      const { uid, resourceVersion } = copy;
      await live.update(ConfigMap, { metadata: { ...metadata, uid, resourceVersion }, data, binaryData });
    } else {
      await live.create(ConfigMap, { metadata, data, binaryData }).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
        throw slow('NotOurs', `${target.namespace}/${name} exists and is not a copy of ${key}; rename one of them`);
      });
    }
    log.info('wrote a copy', { to: target.namespace });
  });

/**
 * copy is an operator that copies ConfigMaps labelled `example.com/copy-to: <namespace>` to that namespace. It is
 * only an example: it writes on behalf of every user who may label a ConfigMap, without checking other permissions.
 */
export const copy = defineOperator({
  name: 'copy',
  domain: 'example.com',
  controllers: [copies],
  permissions: [allow(['create', 'update', 'delete'], ConfigMap)],
});
