import { cluster } from '@bowline/control-plane/testing';
import { s } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { admit, deny } from '../webhook/answer.ts';
import { validating } from '../webhook/declare.ts';

const Guarded = defineResource({
  group: 'webhooks.test.bowline.dev',
  version: 'v1',
  kind: 'Guarded',
  scope: 'Namespaced',
  spec: s.object({ color: s.string() }),
});

it('serves the webhooks of an operator under its own account, also after a restart', async () => {
  const colors = validating(Guarded, { name: 'colors', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(
    ({ object }) => (object.spec.color === 'red' ? deny('red is taken') : admit()),
  );
  const operator = defineOperator({ name: 'guard', resources: [Guarded], webhooks: [colors] });
  await using c = await cluster({ operators: [operator], prefix: 'guard' });
  const make = (name: string, color: string) =>
    c.admin.create(Guarded, { metadata: { namespace: c.namespace, name }, spec: { color } });
  await expect(make('a', 'red')).rejects.toThrow(/red is taken/);
  await make('a', 'blue');
  await c.restart();
  await expect(make('b', 'red')).rejects.toThrow(/red is taken/);
  await make('b', 'blue');
});
