import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { SERVING_CERT_DIR } from '../../../operators/ztwim/src/spire/federation-config.ts';
import { spirePrograms } from '../../support/spire/spire-programs.ts';
import { validate } from '../../support/spire/validate.ts';

/** Validation is the real programs, which check files, or the reason why they are missing. */
export type Validation = Programs | { readonly skippedBecause: string };

/** Programs are the real programs. */
export interface Programs extends AsyncDisposable {
  /** problems returns what the programs find wrong with rendered files, by their names. */
  problems(files: Readonly<Record<string, string>>): Promise<readonly string[]>;
  /** How many files they checked. */
  readonly checked: number;
}

/** openPrograms finds the real programs, and creates what they read while they check a file. */
export async function openPrograms(log: (line: string) => void): Promise<Validation> {
  const found = await spirePrograms(log);
  if ('skippedBecause' in found) return found;
  const { server, agent } = found.programs;
  // The server reads the certificate of its federation endpoint.
  const folder = await mkdtemp(join(tmpdir(), 'ztwim-render-'));
  const authority = await createCertificateAuthority({ commonName: 'test' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'test',
    dnsNames: ['federation.example.io'],
    usages: ['server'],
  });
  await writeFile(join(folder, 'tls.crt'), certificatePem);
  await writeFile(join(folder, 'tls.key'), keyPem);
  // Different specs often give the same file, and starting a program takes most of the time.
  const known = new Map<string, Promise<readonly string[]>>();
  const check = (program: string, file: string, text: string): Promise<readonly string[]> => {
    const key = `${file}\n${text}`;
    const result = known.get(key) ?? validate(program, text.replaceAll(SERVING_CERT_DIR, folder));
    known.set(key, result);
    return result.then((problems) => problems.map((problem) => `${file}: ${problem}`));
  };
  return {
    get checked() {
      return known.size;
    },
    async problems(files) {
      const results = await Promise.all([
        check(server, 'server.conf', files['server.conf'] ?? ''),
        check(agent, 'agent.conf', files['agent.conf'] ?? ''),
      ]);
      return results.flat();
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
