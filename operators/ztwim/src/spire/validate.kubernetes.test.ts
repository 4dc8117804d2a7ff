import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap } from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SpirePrograms, spirePrograms } from '../../../../test/support/spire/spire-programs.ts';
import { validate } from '../../../../test/support/spire/validate.ts';
import { agentObjects } from '../agent/agent-objects.ts';
import { serverObjects } from '../server/server-objects.ts';
import { generatedInputs } from '../testing/generated-inputs.test-support.ts';
import { objectOf } from '../testing/rendered.test-support.ts';
import {
  type AgentSpec,
  type Overrides,
  type ServerOverrides,
  sampleAgent,
  sampleServer,
} from '../testing/sample-inputs.test-support.ts';
import { AGENT_VARIANTS, SERVER_VARIANTS } from '../testing/variants.test-support.ts';
import { SERVING_CERT_DIR } from './federation-config.ts';

let skippedBecause: string | undefined;
let programs: SpirePrograms;
let certificates: string;

beforeAll(async () => {
  const found = await spirePrograms();
  if ('skippedBecause' in found) skippedBecause = found.skippedBecause;
  else programs = found.programs;
  certificates = await mkdtemp(join(tmpdir(), 'ztwim-'));
  const authority = await createCertificateAuthority({ commonName: 'test' });
  const leaf = { commonName: 'test', dnsNames: ['federation.example.io'], usages: ['server'] } as const;
  const { certificatePem, keyPem } = await issueCertificate({ authority, ...leaf });
  await writeFile(join(certificates, 'tls.crt'), certificatePem);
  await writeFile(join(certificates, 'tls.key'), keyPem);
}, 3_600_000);
afterAll(() => rm(certificates, { recursive: true, force: true }));
beforeEach((context) => {
  if (skippedBecause !== undefined) context.skip(skippedBecause);
});

function serverProblems(overrides: ServerOverrides): Promise<readonly string[]> {
  const { data } = objectOf(serverObjects(sampleServer(overrides)), ConfigMap, 'spire-server');
  // The server reads the certificate while it validates the file.
  return validate(programs.server, (data?.['server.conf'] ?? '').replaceAll(SERVING_CERT_DIR, certificates));
}

function agentProblems(overrides: Overrides<AgentSpec>): Promise<readonly string[]> {
  const { data } = objectOf(agentObjects(sampleAgent(overrides)), ConfigMap);
  return validate(programs.agent, data?.['agent.conf'] ?? '');
}

describe('spire-server validate', () => {
  it.each(Object.entries(SERVER_VARIANTS))('accepts %s', async (_, overrides) => {
    expect(await serverProblems(overrides)).toEqual([]);
  });

  it('accepts the files of generated specs', async () => {
    await fc.assert(
      fc.asyncProperty(generatedInputs, async ({ server }) => {
        expect(await serverProblems(server)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});

describe('spire-agent validate', () => {
  it.each(Object.entries(AGENT_VARIANTS))('accepts %s', async (_, overrides) => {
    expect(await agentProblems(overrides)).toEqual([]);
  });

  it('accepts the files of generated specs', async () => {
    await fc.assert(
      fc.asyncProperty(generatedInputs, async ({ agent }) => {
        expect(await agentProblems(agent)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});
