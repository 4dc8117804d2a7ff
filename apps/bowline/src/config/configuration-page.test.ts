import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { operators } from '../operators/operators.ts';
import { loadOperators } from '../operators/registry.ts';
import { configurationPage } from './configuration-page.ts';
import { resolveSettings } from './settings.ts';

const known = Object.keys(operators);

it('matches the page in the documentation', async () => {
  const page = configurationPage(await loadOperators(operators, known));
  await expect(page).toMatchFileSnapshot('../../../../docs/reference/configuration.md');
});

it('shows a valid install', async () => {
  const page = configurationPage(await loadOperators(operators, known));
  const [, text = ''] = /```yaml\n([^`]*)```/.exec(page.slice(page.indexOf('## Install'))) ?? [];
  const value = parse(text) as Readonly<Record<string, unknown>>;
  const file = { path: 'bowline.yaml', value, lineOf: () => undefined };
  const { manager } = resolveSettings({ file, operators: await loadOperators(operators, ['configmap-sync']), known });
  expect(manager.install?.operators?.['configmap-sync']?.podLabels).toEqual({ team: 'platform' });
});

it('starts with a valid example', async () => {
  const page = configurationPage(await loadOperators(operators, known));
  const value = parse(/```yaml\n([^`]*)```/.exec(page)?.[1] ?? '') as { readonly operators: readonly string[] };
  const selected = await loadOperators(operators, value.operators);
  const file = { path: 'bowline.yaml', value, lineOf: () => undefined };
  const { manager, sections } = resolveSettings({ file, operators: selected, known });
  expect(manager.metrics.secure).toBe(true);
  expect(sections).toEqual({ 'configmap-sync': { maxWritesInFlight: 16 } });
});
