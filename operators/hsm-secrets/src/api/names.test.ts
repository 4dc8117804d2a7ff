import { expect, it } from 'vitest';
import { agentName, resourceName } from './names.ts';

it.each([
  ['DC6A33145E23A42A', 'hsm-agent-pico-dc6a33145e23a42a', 'hsm.j5t.io/DC6A33145E23A42A'],
  ['a.b_c', 'hsm-agent-pico-a-b-c-', 'hsm.j5t.io/a.b_c'],
  ['12 34', 'hsm-agent-pico-12-34-', 'hsm.j5t.io/12-34-'],
  ['/', 'hsm-agent-pico-', 'hsm.j5t.io/'],
])('names the agent and the resource of the serial number %s', (serial, agent, resource) => {
  expect(agentName('pico', serial)).toMatch(new RegExp(`^${agent}([0-9a-f]{8})?$`));
  expect(resourceName(serial)).toMatch(new RegExp(`^${resource}([0-9a-f]{8})?$`));
});

it('gives different names to serial numbers that differ only in what is replaced or cut', () => {
  const serials = ['a b', 'a-b', 'a/b', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'A'.repeat(128)];
  const names = serials.flatMap((serial) => [agentName('a'.repeat(40), serial), resourceName(serial)]);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name.replace('hsm.j5t.io/', '').length).toBeLessThanOrEqual(63);
});
