import { expect, it } from 'vitest';
import { belongsTo, ownDeployments } from './parent.ts';
import { secretOf } from './sample-objects.test-support.ts';

const parents = ownDeployments('bowline-system');
const parent = (fields: object) => secretOf({ parentRef: { name: '', group: 'apps', kind: 'Deployment', ...fields } });

it.each<[string, ReturnType<typeof secretOf>, boolean]>([
  ['without a parent', secretOf(), true],
  ['of our own Deployment', parent({ name: 'bowline-hsm-secrets', namespace: 'bowline-system' }), true],
  ['of the Deployment of all operators', parent({ name: 'bowline', namespace: 'bowline-system' }), true],
  ['of another Deployment', parent({ name: 'other', namespace: 'bowline-system' }), false],
  ['of a Deployment in its own namespace', parent({ name: 'bowline' }), false],
  ['of another kind', parent({ name: 'bowline', namespace: 'bowline-system', kind: 'StatefulSet' }), false],
])('decides whether an HSMSecret is ours: %s', (_, object, isOurs) => {
  expect(belongsTo(object, parents)).toBe(isOurs);
});
