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
      '2 Badge and their kind, the namespace home, and every',
    ],
    [
      'an install with its objects',
      installed,
      true,
      'Uninstalls a from namespace home',
      'the namespace home, and what',
    ],
    ['what was left behind', abandoned, false, 'Nobody runs a any more', '2 Badge and their kind, and everything'],
    ['what was left behind with its objects', abandoned, true, 'Nobody runs a any more', 'what the deletion policies'],
  ])('tells people what goes and what stays of %s', async (_, plan, deleteResources, title, kept) => {
    const text = await showPlan(plan, counts, { deleteResources, format: 'table' });
    expect(text).toMatch(new RegExp(`^${title}`));
    expect(text).toContain(`\nKept: ${kept}`);
  });
});
