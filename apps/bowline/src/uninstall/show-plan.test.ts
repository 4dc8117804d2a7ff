import { Service } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { Plan } from './plan-uninstall.ts';
import { showPlan } from './show-plan.ts';

const scopes = [{ operator: 'a', namespaces: undefined, others: [] }];
const abandoned: Plan = { namespace: 'home', operators: ['a'], steps: [], scopes, workloads: [] };
const webhook = { resource: Service, object: { metadata: { namespace: 'home', name: 'a-webhook' } } };
const installed: Plan = { ...abandoned, steps: [{ name: 'workloads', objects: [webhook] }] };
const counts = [{ kind: 'Badge', operator: 'a', objects: 2, held: 1, terminating: 0 }];

describe('showPlan', () => {
  it.each<[string, Plan, boolean, string, string]>([
    [
      'an install',
      installed,
      false,
      'Uninstalls a from namespace home',
      '2 Badge and their CRD, the namespace home, and all objects',
    ],
    [
      'an install with its objects',
      installed,
      true,
      'Uninstalls a from namespace home',
      'the namespace home, and the objects',
    ],
    ['an abandoned operator', abandoned, false, 'No process runs a, but', '2 Badge and their CRD, and all objects'],
    [
      'an abandoned operator with its objects',
      abandoned,
      true,
      'No process runs a, but',
      'the objects that the deletion policies',
    ],
  ])('lists what is removed and what is kept of %s', async (_, plan, deleteResources, title, kept) => {
    const text = await showPlan(plan, counts, { deleteResources, format: 'table' });
    expect(text).toMatch(new RegExp(`^${title}`));
    expect(text).toContain(`\nKept: ${kept}`);
  });
});
