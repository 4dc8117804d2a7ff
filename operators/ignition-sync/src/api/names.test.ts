import { expect, it } from 'vitest';
import {
  AGENT_CONTAINER,
  CR_ANNOTATIONS,
  GLOBAL_PAUSE,
  INJECTION_ANNOTATIONS,
  LABELS,
  labelValueOf,
  MANAGER,
  MAX_NAME_LENGTH,
  OPERATOR,
  objectNames,
  POD_ANNOTATIONS,
  REQUEST_SOURCES,
} from './names.ts';

it('names are those of stored objects', () => {
  expect(Object.values(POD_ANNOTATIONS)).toEqual(
    [
      ...['inject', 'cr-name', 'service-path', 'gateway-name', 'deployment-mode', 'tag-provider', 'sync-period'],
      ...['exclude-patterns', 'system-name', 'system-name-template', 'exclude-tag-providers'],
      ...[
        'tag-inheritance-strategy',
        'redundancy-role',
        'peer-gateway-name',
        'sync-profile',
        'ref-override',
        'data-volume',
      ],
    ].map((name) => `ignition-sync.io/${name}`),
  );
  expect(Object.values(CR_ANNOTATIONS)).toEqual(
    [
      'requested-ref',
      'requested-at',
      'requested-by',
      'requested-commit',
      'approved-commit',
      'approved-by',
      'retry',
    ].map((name) => `ignition-sync.io/${name}`),
  );
  expect([...Object.values(INJECTION_ANNOTATIONS), ...Object.values(LABELS)]).toEqual(
    ['injected', 'not-injected', 'cr-name', 'agent', 'injection'].map((name) => `ignition-sync.io/${name}`),
  );
  expect([OPERATOR.name, MANAGER, AGENT_CONTAINER, GLOBAL_PAUSE.name, GLOBAL_PAUSE.key]).toEqual([
    'ignition-sync',
    'ignition-sync-controller',
    'ignition-sync-agent',
    'ignition-sync-global-pause',
    'paused',
  ]);
  expect(REQUEST_SOURCES).toContain('kargo');
});

it('the names of the objects of an IgnitionSync with the longest name are valid', () => {
  expect(objectNames('plant')).toEqual({
    claim: 'ignition-sync-repo-plant',
    metadata: 'ignition-sync-metadata-plant',
    status: 'ignition-sync-status-plant',
    changes: 'ignition-sync-changes-plant',
    agent: 'ignition-sync-agent-plant',
    githubToken: 'ignition-sync-github-token-plant',
  });
  const longest = 'a'.repeat(MAX_NAME_LENGTH);
  for (const name of Object.values(objectNames(longest))) expect(name.length).toBeLessThanOrEqual(253);
  expect(labelValueOf('plant')).toBe('plant');
  expect(labelValueOf(longest)).toHaveLength(63);
  expect(labelValueOf(`${longest}b`)).not.toBe(labelValueOf(longest));
});
