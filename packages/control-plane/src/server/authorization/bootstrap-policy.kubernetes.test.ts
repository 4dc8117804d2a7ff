import { describe, expect, it } from 'vitest';
import { bothServers, RBAC } from './both-servers.test-support.ts';
import { ADMIN, type GuardedResponse } from './guarded-server.test-support.ts';

describe('bootstrap roles', () => {
  it('have the same rules, labels and subjects as on the real server', async () => {
    await using servers = await bothServers();
    for (const plural of [
      'clusterroles',
      'clusterrolebindings',
      'namespaces/kube-system/roles',
      'namespaces/kube-system/rolebindings',
    ]) {
      const query = '?labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults';
      const lists = await servers.both(ADMIN, 'GET', `${RBAC}/${plural}${query}`);
      const realItems = new Map(itemsOf(lists.real).map((item) => [nameOf(item), item]));
      const ourItems = itemsOf(lists.ours);
      expect(ourItems.length).toBeGreaterThan(0);
      for (const item of ourItems) expect(policyOf(item)).toEqual(policyOf(realItems.get(nameOf(item)) ?? {}));
    }
  });
});
interface Item {
  readonly metadata?: { readonly name?: string; readonly labels?: object; readonly annotations?: object };
  readonly [field: string]: unknown;
}

function itemsOf({ body }: GuardedResponse): readonly Item[] {
  return body.items as readonly Item[];
}

function nameOf({ metadata }: Item): string {
  return metadata?.name ?? '';
}

/** policyOf returns what does not depend on the server: no times, versions and ids. */
function policyOf({
  metadata: { name, labels, annotations } = {},
  rules,
  roleRef,
  subjects,
  aggregationRule,
}: Item): object {
  return { name, labels, annotations, rules, roleRef, subjects, aggregationRule };
}
