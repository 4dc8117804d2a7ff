import { describe, expect, it } from 'vitest';
import { upgradeable } from './upgradeable.ts';

const available = (status: boolean) => ({
  ...{ type: 'OperandsAvailable', status, reason: status ? 'Ready' : 'Progressing' },
  message: status ? 'all required operands are ready' : 'waiting for SpireAgent(DaemonSetNotReady)',
});

describe('upgradeable', () => {
  it.each<[string, boolean, boolean, boolean, string]>([
    ['all operands are ready', true, false, true, 'Upgradeable'],
    ['an operand is not ready', false, false, false, 'OperandsNotAvailable'],
    ['objects are only created', true, true, false, 'CreateOnlyModeEnabled'],
  ])('follows from the operands and the settings: %s', (_, isAvailable, createOnly, status, reason) => {
    expect(upgradeable(available(isAvailable), { createOnly })).toMatchObject({ type: 'Upgradeable', status, reason });
  });

  it('names the operands that are not ready', () => {
    expect(upgradeable(available(false), { createOnly: false }).message).toContain('SpireAgent(DaemonSetNotReady)');
  });
});
