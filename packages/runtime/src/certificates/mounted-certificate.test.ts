import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createCertificateAuthority,
  issueCertificate,
  seededRandom,
  systemClock,
  VirtualClock,
} from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { MountedCertificate } from './mounted-certificate.ts';

const waiting = { timeout: 10_000, interval: 10 };

it('reads the certificate and the CAs of a folder, and each of them again when it changes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-mounted-'));
  const root = await createCertificateAuthority({ commonName: 'root' });
  const next = await createCertificateAuthority({ commonName: 'next' });
  const leaf = () => issueCertificate({ authority: root, commonName: 'x', dnsNames: ['a.agent'], usages: ['server'] });
  const write = (files: Record<string, string>) =>
    Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const clock = new VirtualClock({ startMs: systemClock.now() });
  const operator = { name: 'sea', domain: 'example.com' };
  const mounted = new MountedCertificate({ operator, folder, names: ['a.agent'], clock, random: seededRandom(1) });
  const stop = new AbortController();
  const first = await leaf();
  await write({ 'tls.crt': first.certificatePem, 'tls.key': first.keyPem });
  const running = mounted.run(stop.signal);
  try {
    await vi.waitFor(() => expect(mounted.problem()?.message).toContain('ca.crt is missing'), waiting);
    await write({ 'ca.crt': root.certificatePem });
    const soon = async (test: () => void): Promise<void> =>
      await vi.waitFor(async () => {
        await clock.advance(30_000);
        test();
      }, waiting);
    await soon(() => expect(mounted.current?.bundlePem).toBe(root.certificatePem));
    expect(mounted.current?.certificate.certificatePem).toBe(first.certificatePem);
    await write({ 'ca.crt': root.certificatePem + next.certificatePem });
    await soon(() => expect(mounted.current?.bundlePem).toBe(root.certificatePem + next.certificatePem));
    const second = await leaf();
    await write({ 'tls.crt': second.certificatePem, 'tls.key': second.keyPem });
    await soon(() => expect(mounted.current?.certificate.certificatePem).toBe(second.certificatePem));
  } finally {
    stop.abort();
    await running;
    await rm(folder, { recursive: true, force: true });
  }
});
