import { describe, expect, it } from 'vitest';
import { readPackageLock } from './package-lock.ts';
import { completeBom } from './sbom.ts';

const component = (ref: string) => ({ 'bom-ref': ref, name: ref.slice(0, ref.lastIndexOf('@')) });
const lock = readPackageLock();
const options = {
  target: 'manager',
  platform: 'linux/amd64',
  name: 'localhost/bowline:1',
  lock,
  source: { time: 1_700_000_000, revision: 'abc' },
  digest: `sha256:${'0'.repeat(64)}`,
  bundled: new Set(['pino']),
} as const;
/** npm names its document after a random number, the time and the folder. */
const npm = (serialNumber: string) => ({
  serialNumber,
  metadata: { timestamp: serialNumber, component: component('folder@1') },
  components: ['bowline@1', '@bowline/runtime@1', 'pino@10.0.0', 'yargs@17.0.0'].map(component),
  dependencies: [{ ref: 'pino@10.0.0', dependsOn: ['yargs@17.0.0'] }, { ref: 'yargs@17.0.0' }],
});

describe('the SBOM', () => {
  it('lists what is in the bundle, Node and the packages of Debian, and nothing else', () => {
    const { components, dependencies } = completeBom(npm('a'), options);
    const names = components.map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual(['bowline', '@bowline/runtime', 'pino', 'node']);
    expect(names.slice(4)).toEqual(lock.packages['linux/amd64'].manager.map(({ name }) => name));
    expect(dependencies.find(({ ref }) => ref === 'pino@10.0.0')).toEqual({ ref: 'pino@10.0.0', dependsOn: [] });
  });

  it('adds OpenSC and pkcs11js to the image for PKCS#11', () => {
    const { components } = completeBom(npm('a'), { ...options, target: 'pkcs11' });
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['opensc', 'pcscd', 'pkcs11js']));
  });

  it('is the same for the same image', () => {
    expect(completeBom(npm('a'), options)).toEqual(completeBom(npm('b'), options));
  });
});
