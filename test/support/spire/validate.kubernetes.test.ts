import { beforeAll, beforeEach, expect, it } from 'vitest';
import { sampleAgent, sampleServer } from './sample-configs.ts';
import { type SpirePrograms, spirePrograms } from './spire-programs.ts';
import { validate } from './validate.ts';

let skippedBecause: string | undefined;
let programs: SpirePrograms;

beforeAll(async () => {
  const found = await spirePrograms();
  if ('skippedBecause' in found) skippedBecause = found.skippedBecause;
  else programs = found.programs;
}, 3_600_000);
beforeEach((context) => {
  if (skippedBecause !== undefined) context.skip(skippedBecause);
});

const names = {
  trustDomain: 'example.org',
  clusterName: 'sample',
  namespace: 'spire',
  bundle: 'spire-bundle',
  issuer: 'https://oidc.example.org',
};

it('validate accepts valid configurations of the server and the agent', async () => {
  expect(await validate(programs.server, sampleServer(names))).toEqual([]);
  expect(await validate(programs.agent, sampleAgent(names))).toEqual([]);
});

it('validate reports an unknown key and a duration that is none', async () => {
  const misspelt = sampleServer(names).replace('"ca_ttl"', '"ca_tll"');
  expect((await validate(programs.server, misspelt)).join('\n')).toContain('ca_tll');
  const slow = sampleAgent(names).replace('"10m"', '"soon"');
  expect((await validate(programs.agent, slow)).join('\n')).toContain('soon');
});
