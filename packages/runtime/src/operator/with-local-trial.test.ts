import { apiVersionOf } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { defineResource } from '../resource/define-resource.ts';
import { defineOperator } from './operator.ts';
import { withLocalTrial } from './with-local-trial.ts';

const Site = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({ title: s.string() }),
});
const sampleWith = (spec: object) => ({
  apiVersion: apiVersionOf(Site),
  kind: 'Site',
  metadata: { namespace: 'a', name: 'b' },
  spec,
});
const operator = defineOperator({
  name: 'sites',
  domain: 'example.com',
  resources: [Site],
  controllers: [controller(Site).reconcile(() => {})],
  samples: [sampleWith({ title: 'declared' })],
  local: { warning: 'declared', suggestedCommands: ['kubectl get sites'] },
});

describe('withLocalTrial', () => {
  it('replaces what the trial sets, and keeps the rest', () => {
    const samples = [sampleWith({ title: 'started' })];
    const changed = withLocalTrial(operator, { samples, config: { port: 1 }, warning: undefined });
    expect(changed.samples).toEqual(samples);
    expect(changed.local).toEqual({ ...operator.local, config: { port: 1 } });
    expect(withLocalTrial(operator, {}).samples).toEqual(operator.samples);
  });

  it('removes the samples that are left out', () => {
    expect(withLocalTrial(operator, { leftOut: 'no git' }).samples).toEqual([]);
  });

  it('refuses samples that are not valid', () => {
    expect(() => withLocalTrial(operator, { samples: [sampleWith({})] })).toThrow(/its sample Site b is not valid/);
  });
});
