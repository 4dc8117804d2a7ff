import { join } from 'node:path';
import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { percentile, rotate } from '../../statistics.ts';
import { installProgram } from '../../support/installed-program.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { startSubject, subjectArguments } from '../../support/run-subject.ts';
import type { SubjectProcess } from '../../support/subject-process.ts';
import type { HsmScene } from './scene.ts';
import { pkcs11Tools, startSoftHsmAgent, TOKEN } from './soft-hsm-agent.ts';

const readers = [
  { id: 'agent', label: 'through agent and worker' },
  { id: 'pkcs11js', label: 'pkcs11js in the same process' },
  { id: 'token', label: 'token layer of the worker in the same process' },
] as const;

const timeoutMs = 60_000;

/** reads measures how long a secret of three keys takes from SoftHSM2 to the process of the manager. */
export async function reads(scene: HsmScene): Promise<readonly Measure[]> {
  const tools = await pkcs11Tools(scene.log);
  const subjects: readonly SubjectResult[] =
    'skippedBecause' in tools
      ? readers.map(({ id, label }) => ({ id, label, leftOut: tools.skippedBecause }))
      : await measureReads(scene, tools);
  return [
    judgedMeasure({ id: 'reads', title: 'a secret of three keys from SoftHSM2, p50', unit: 'µs', subjects }, [
      { id: 'reads-pkcs11js', subject: 'agent', against: 'pkcs11js', bound: 'at most', limit: 6 },
    ]),
  ];
}

async function measureReads(
  scene: HsmScene,
  tools: Parameters<typeof startSoftHsmAgent>[1],
): Promise<readonly SubjectResult[]> {
  const { reads: count, readRounds: rounds } = scene.plan;
  await using agent = await startSoftHsmAgent(scene, tools, await installProgram(join(scene.folder, 'reads')));
  const options = {
    ...{ address: agent.address, serverName: agent.serverName, identityFile: agent.identityFile },
    ...{ library: tools.softHsm.library, pkcs11js: tools.pkcs11js, label: TOKEN.label, pin: TOKEN.pin },
  };
  const samples: Record<(typeof readers)[number]['id'], number[]> = { agent: [], pkcs11js: [], token: [] };
  const start = (command: string): Promise<SubjectProcess> =>
    startSubject({
      command: { ...scene.command(command), env: agent.env },
      args: subjectArguments(scene, options),
    });
  // It writes the secret.
  await using throughAgent = await start('agent-reader');
  await using bare = await start('bare-pkcs11');
  await using local = await start('local-token');
  const running = { agent: throughAgent, pkcs11js: bare, token: local };
  const readOften = async (id: keyof typeof running): Promise<readonly number[]> => {
    running[id].send(String(count));
    const { times } = await running[id].next(timeoutMs);
    return times as readonly number[];
  };
  // V8 compiles hot code first: agents run for weeks.
  for (const { id } of readers) await readOften(id);
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${count} reads from SoftHSM2, round ${round + 1} of ${rounds}`);
    for (const { id } of rotate(readers, round)) samples[id].push(percentile(await readOften(id), 0.5));
  }
  return readers.map(({ id, label }) => measured(id, label, samples[id]));
}
