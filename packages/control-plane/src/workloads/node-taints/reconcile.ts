import { Node } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { sameJson } from '../../node-agent/same-json.ts';
import { taintsFor } from './taints.ts';

// Keyed, because a node that is being deleted still keeps Pods away by its taints.
const sources = keyed('node-taints').watches(Node, { map: ({ metadata }) => [metadata.name] });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** nodeTaints keeps new Pods away from nodes whose conditions report a problem. */
export const nodeTaints = sources.reconcile(reconcile);

async function reconcile({ key, get, live }: Context): Promise<void> {
  const node = get(Node, { name: key });
  if (!node) return;
  const taints = taintsFor(node);
  if (sameJson(node.spec?.taints, taints)) return;
  const { resourceVersion } = node.metadata;
  const body = { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } };
  await live.patch(Node, { name: key }, { type: 'merge', body });
}
