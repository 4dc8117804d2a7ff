import { readFileSync } from 'node:fs';
import { systemClock } from '@bowline/machinery';
import { createLog, createMetrics } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { agentMetrics } from '../../../operators/ignition-sync/src/agent/agent-metrics.ts';
import { IgnitionSyncMetrics } from '../../../operators/ignition-sync/src/metrics.ts';
import { WebhookHandler } from '../../../operators/ignition-sync/src/receiver/webhook-handler.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const page = read('./metrics.md');
const reference = read('../../reference/metrics.md');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}
const { spec } = parse(read('./examples/alerts.yaml')) as {
  readonly spec: { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
};
const rules = spec.groups.flatMap((group) => group.rules);

async function exported(): Promise<readonly string[]> {
  const metrics = createMetrics({ process: false });
  const { signal } = new AbortController();
  new IgnitionSyncMetrics({ metrics, clock: systemClock, perObject: false, signal });
  agentMetrics(metrics);
  new WebhookHandler({
    findSync: () => undefined,
    secrets: { hmac: () => undefined, token: () => undefined, ofSync: () => undefined },
    annotate: async () => undefined,
    clock: systemClock,
    log: createLog({ destination: { write: () => undefined } }),
    metrics,
  });
  return [...(await metrics.render()).matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name).sort();
}

const namedIn = (text: string): readonly string[] =>
  [...text.matchAll(/ignition_sync_\w*[a-z]/g)].map(([name]) => name.replace(/_bucket$/, ''));

it('all metrics are in the reference, which contains no others, and the page mentions only these', async () => {
  const metrics = await exported();
  const listed = [...reference.matchAll(/^\| `(ignition_sync_\w+)` \|/gm)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual(metrics);
  const others = namedIn(page).filter((name) => !metrics.includes(name) && name !== 'ignition_sync_agent');
  expect(others).toEqual([]);
});

it('alerts use metrics that are exported, and name a section that exists', async () => {
  const metrics = await exported();
  const sections = [...read('./troubleshooting.md').matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
    heading.toLowerCase().replaceAll(' ', '-'),
  );
  expect(rules.length).toBe(6);
  for (const { alert, expr, annotations } of rules) {
    const names = namedIn(expr);
    expect(names, alert).not.toEqual([]);
    expect(
      names.filter((name) => !metrics.includes(name)),
      alert,
    ).toEqual([]);
    const [, section = ''] = annotations.runbook.split('#');
    expect(annotations.runbook, alert).toBe(`docs/operators/ignition-sync/troubleshooting.md#${section}`);
    expect(sections, alert).toContain(section);
  }
});
