import { systemClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import { ZtwimMetrics } from '../metrics.ts';
import { sampleConfig } from '../testing/sample-inputs.test-support.ts';
import type { OperandCondition } from './condition.ts';
import { type ReportTarget, report, reportHold, reportOperand, reportTurn } from './report.ts';

/** Reported is a target that keeps what is reported: conditions as `Type=status reason`, removed ones as `-Type`. */
interface Reported extends ReportTarget {
  readonly conditions: string[];
  readonly events: string[];
}

function target(stored: readonly { type: string; reason: string }[] = [], createOnly = false): Reported {
  const conditions: string[] = [];
  const events: string[] = [];
  return {
    conditions,
    events,
    deps: {
      config: sampleConfig({ createOnly }),
      metrics: new ZtwimMetrics({ metrics: createMetrics({ process: false }), clock: systemClock }),
    },
    object: { status: { conditions: stored } },
    status: {
      condition: (type, status, reason) => void conditions.push(`${type}=${status} ${reason}`),
      removeCondition: (type) => void conditions.push(`-${type}`),
    },
    event: (type, reason) => void events.push(`${type} ${reason}`),
  };
}

const condition = (type: string, status: boolean, reason: string): OperandCondition => ({
  type,
  status,
  reason,
  message: '',
});

describe('report', () => {
  it('removes conditions that no longer apply, but not those of the runtime', () => {
    const reported = target([
      { type: 'RouteAvailable', reason: 'Ready' },
      { type: 'Stalled', reason: 'Any' },
    ]);
    report(reported, [condition('ConfigSource', true, 'InheritedFromZTWIM')]);
    expect(reported.conditions).toEqual([
      '-RouteAvailable',
      'ConfigSource=true InheritedFromZTWIM',
      'Ready=true Ready',
    ]);
  });

  it.each([
    [true, [], ['CreateOnlyMode=true CreateOnlyModeEnabled', 'Ready=true Ready']],
    [
      false,
      [{ type: 'CreateOnlyMode', reason: 'CreateOnlyModeEnabled' }],
      ['CreateOnlyMode=false CreateOnlyModeDisabled', 'Ready=true Ready'],
    ],
    [false, [], ['Ready=true Ready']],
  ])(
    'mentions the mode in which nothing is changed while it is on, and after it was: %j',
    (createOnly, stored, expected) => {
      const reported = target(stored, createOnly);
      report(reported, []);
      expect(reported.conditions).toEqual(expected);
    },
  );
});

it('an operand records events about what it cannot do', () => {
  const reported = target();
  reportOperand(reported, 'SpireAgent', [
    condition('SettingsAgree', false, 'SocketPathMismatch'),
    condition('ServiceAvailable', false, 'ResourceConflict'),
    condition('KubeletAccess', false, 'KubeletTooOld'),
  ]);
  expect(reported.events).toEqual(['Warning SocketPathMismatch', 'Warning ForeignObject']);
  expect(reported.conditions.at(-1)).toBe('Ready=false SocketPathMismatch');
});

describe('a held operand', () => {
  it('reports an issuer that no object sets as an invalid configuration too', () => {
    const reported = target();
    reportHold(reported, 'SpireServer', { reason: 'Missing', message: '', fields: ['jwtIssuer'] });
    expect(reported.conditions).toEqual([
      'ConfigurationValid=false MissingJWTIssuer',
      'ConfigSource=false Missing',
      'Ready=false Missing',
    ]);
  });

  it('no longer reports it for another reason to hold', () => {
    const reported = target([{ type: 'ConfigurationValid', reason: 'MissingJWTIssuer' }]);
    reportHold(reported, 'SpireServer', { reason: 'ParentMissing', message: '', fields: [] });
    expect(reported.conditions).toEqual([
      '-ConfigurationValid',
      'ConfigSource=false ParentMissing',
      'Ready=false ParentMissing',
    ]);
    expect(reported.events).toEqual(['Warning ParentMissing']);
  });

  it.each([
    [['trustDomain', 'jwtIssuer'], 'Warning ConfigConflict'],
    [['jwtIssuer'], 'Warning JWTIssuerMismatch'],
  ] as const)('records which values disagree: %j', (fields, event) => {
    const reported = target();
    reportHold(reported, 'SpireServer', { reason: 'Conflict', message: '', fields });
    expect(reported.events).toEqual([event]);
  });
});

it('an operand that waits for its turn keeps its other conditions current', () => {
  const reported = target([{ type: 'DaemonSetAvailable', reason: 'DaemonSetReady' }]);
  const source = condition('ConfigSource', true, 'InheritedFromZTWIM');
  expect(reportTurn(reported, 'SpireAgent', [source], { message: '', requeueAfterMs: 5 })).toEqual({
    requeueAfterMs: 5,
  });
  expect(reported.conditions).toEqual(['ConfigSource=true InheritedFromZTWIM', 'Ready=false Progressing']);
});
