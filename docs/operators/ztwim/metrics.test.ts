import { readFileSync } from 'node:fs';
import { systemClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ZtwimMetrics } from '../../../operators/ztwim/src/metrics.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const page = read('./metrics.md');
const reference = read('../../reference/metrics.md');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string; readonly summary: string };
}
const { spec } = parse(read('./examples/alerts.yaml')) as {
  readonly spec: { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
};
const rules = spec.groups.flatMap((group) => group.rules);

async function exported(): Promise<readonly string[]> {
  const registry = createMetrics({ process: false });
  new ZtwimMetrics({ metrics: registry, clock: systemClock });
  return [...(await registry.render()).matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name).sort();
}

const namedIn = (text: string): readonly string[] =>
  [...text.matchAll(/ztwim_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));

describe('the metrics', () => {
  it('are all in the reference, which contains no others, and the page mentions only these', async () => {
    const metrics = await exported();
    const listed = [...reference.matchAll(/^\| `(ztwim_\w+)` \|/gm)].map(([, name = '']) => name);
    expect(listed.toSorted()).toEqual(metrics);
    expect(namedIn(page).filter((name) => !metrics.includes(name))).toEqual([]);
  });
});

describe('the alerts', () => {
  it('use metrics that are exported', async () => {
    const metrics = await exported();
    for (const { alert, expr } of rules) {
      const names = namedIn(expr);
      expect(names, alert).not.toEqual([]);
      expect(
        names.filter((name) => !metrics.includes(name)),
        alert,
      ).toEqual([]);
      for (const [name] of expr.matchAll(/bowline_\w+/g)) expect(reference, alert).toContain(`\`${name}\``);
    }
  });

  it('name their section of the runbook, which exists', () => {
    const runbook = read('./runbook.md');
    const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
      heading.toLowerCase().replaceAll(' ', '-'),
    );
    for (const { alert, annotations } of rules) {
      const section = alert
        .replace(/^Ztwim/, '')
        .replace(/\B[A-Z]/g, (letter) => `-${letter}`)
        .toLowerCase();
      expect(annotations.runbook, alert).toBe(`docs/operators/ztwim/runbook.md#${section}`);
      expect(sections, alert).toContain(section);
      expect(runbook).toContain(`\n\n\`${alert}\`: `);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(6);
  });
});
