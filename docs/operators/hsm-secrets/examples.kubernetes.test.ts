import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { providePagePrograms } from '../../../test/guide/page-programs.ts';
import type { Reader } from '../../../test/guide/reader.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const programs = providePagePrograms();

const LIMITS = { timeout: 60_000, interval: 500 };
const START = 'npm start -- --operators hsm-secrets --kubeconfig kubeconfig';

/** readerWith returns a reader of pages that start a command, which is ready when all samples are. */
function readerWith(background: string): Reader {
  return programs().reader(here, background, '2 of 2 devices available, simulated');
}

// Update the pages with: npm run test:kubernetes -- docs/operators/hsm-secrets -u

it('the commands of the pages print the output shown there', async () => {
  await using reader = readerWith(START);
  // In reading order: later pages depend on the first one.
  const pages = ['README', 'secrets', 'mirroring', 'grace', 'security', 'troubleshooting', 'pico-hsm', 'migration'];
  for (const page of pages) await reader.read(join(here, `${page}.md`));
  reader.finish();
}, 300_000);

/** The commands of the original plan, word for word. */
const COMMANDS = {
  create: 'kubectl apply -f examples/new-architecture/test-hsmdevice.yaml',
  list: 'kubectl get hsmpool',
  reports: `kubectl get pods -l app.kubernetes.io/component=discovery \\
  -o jsonpath='{range .items[*]}{.metadata.name}: {.metadata.annotations.hsm\\.j5t\\.io/device-report}{"\\n"}{end}'`,
  show: 'kubectl get hsmpool pico-hsm-test-pool -o yaml',
} as const;

it('scenario 04 the page shows the commands of the original plan', () => {
  const blocks = [...readFileSync(join(here, 'README.md'), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)];
  const shown = blocks.map(([, text = '']) =>
    text
      .replaceAll(/^#.*\n/gm, '')
      .trim()
      .split(/\n{2,}/),
  );
  expect(shown).toContainEqual(Object.values(COMMANDS));
});

it.each(['embedded', 'kubernetes'])(
  'scenario 04 the commands of the original plan show the pool and its reports: %s',
  async (kind) => {
    const start = `${START} --control-plane ${kind}`;
    await using reader = readerWith(start);
    // The reader starts it as it starts that of a page.
    const page = join(programs().folder, `${kind}.md`);
    writeFileSync(page, `\`\`\`console\n$ ${start}\n\`\`\`\n`);
    await reader.read(page);
    // A device belongs to one pool.
    await reader.run('kubectl delete hsmdevice pico-hsm-test -n sample-hsm');
    expect(await reader.run(COMMANDS.create)).toContain('hsmdevice.hsm.j5t.io/pico-hsm-test created');
    const table = async (): Promise<string[][]> =>
      (await reader.run(COMMANDS.list))
        .trim()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
    await expect.poll(table, LIMITS).toEqual([
      ['NAME', 'HSMDEVICE', 'TOTAL', 'AVAILABLE', 'PHASE'],
      ['pico-hsm-test-pool', 'pico-hsm-test', '2', '2', 'Ready'],
    ]);
    const reports = (await reader.run(COMMANDS.reports)).trim().split('\n').map(reportIn);
    expect(reports.map(({ reportingNode }) => reportingNode).sort()).toEqual(['bowline-1', 'bowline-2']);
    expect(reports.map(({ hsmDeviceName }) => hsmDeviceName)).toEqual(['pico-hsm-test', 'pico-hsm-test']);
    const pool = await reader.run(COMMANDS.show);
    for (const line of ['hsmDeviceRef: pico-hsm-test', 'gracePeriod: 5m', 'phase: Ready', 'availableDevices: 2'])
      expect(pool).toContain(`  ${line}\n`);
  },
  300_000,
);

/** reportIn returns the report in a line `pod: report`. */
function reportIn(line: string): { readonly hsmDeviceName: string; readonly reportingNode: string } {
  return JSON.parse(line.slice(line.indexOf(': ') + 2)) as { hsmDeviceName: string; reportingNode: string };
}
