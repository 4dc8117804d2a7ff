import { expect, it } from 'vitest';
import { kubeletAccess } from './kubelet-access.ts';

const nodes = (...versions: readonly string[]) =>
  versions.map((kubeletVersion, index) => ({ name: `node-${index}`, kubeletVersion }));
const skip = { type: 'skip' } as const;

it.each([
  ['v1.33.0', 'pods', 'Unverified'],
  ['v1.35.8+bowline', 'pods', 'Unverified'],
  ['', 'pods', 'Unverified'],
  ['v1.32.9', 'pods', 'KubeletTooOld'],
  ['v1.32.9', 'proxy', 'Unverified'],
] as const)('with kubelet %s and the permission %s is %s', (version, kubeletAuthorization, reason) => {
  expect(kubeletAccess(nodes('v1.34.0', version), { kubeletAuthorization }, skip).reason).toBe(reason);
});

it('is verified with a CA', () => {
  expect(kubeletAccess([], { kubeletAuthorization: 'pods' }, { type: 'apiServerCA' }).reason).toBe('Verified');
});

it('names at most five nodes', () => {
  const { message } = kubeletAccess(nodes(...Array<string>(7).fill('v1.30.1')), { kubeletAuthorization: 'pods' }, skip);
  expect(message).toContain('7 nodes (node-0, node-1, node-2, node-3, node-4)');
});
