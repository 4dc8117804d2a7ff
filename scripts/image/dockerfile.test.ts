import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from '../repository.ts';
import { secondNodeVersion } from '../second-node.ts';
import { CONTAINER_CONFIG, STATIC_LABELS } from './image-manifest.ts';
import { TARGETS, version } from './image-options.ts';

const text = readFileSync(join(repositoryRoot, 'deploy/Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '');

/** The instructions of a stage, in order. */
function stage(name: string): readonly (readonly [instruction: string, value: string])[] {
  const body = text.split(/^(?=FROM )/m).find((each) => each.split('\n', 1)[0]?.endsWith(` AS ${name}`)) ?? '';
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

const valuesOf = (name: string, instruction: string): readonly string[] =>
  stage(name).flatMap(([each, value]) => (each === instruction ? [value] : []));

describe('the Dockerfile', () => {
  it('configures containers as the archive does', () => {
    expect(valuesOf('base', 'USER')).toEqual([CONTAINER_CONFIG.User]);
    expect(valuesOf('base', 'ENV')).toEqual(CONTAINER_CONFIG.Env);
    expect(valuesOf('base', 'ENTRYPOINT')).toEqual([JSON.stringify(CONTAINER_CONFIG.Entrypoint)]);
    expect(valuesOf('base', 'CMD')).toEqual([JSON.stringify(CONTAINER_CONFIG.Cmd)]);
    expect(valuesOf('base', 'WORKDIR')).toEqual([CONTAINER_CONFIG.WorkingDir]);
    expect(valuesOf('base', 'STOPSIGNAL')).toEqual([CONTAINER_CONFIG.StopSignal]);
    for (const [name, value] of Object.entries(STATIC_LABELS)) {
      expect(valuesOf('base', 'LABEL').join()).toContain(`${name}=${JSON.stringify(value)}`);
    }
    expect(valuesOf('base', 'ARG')).toContain(`VERSION=${version()}`);
  });

  it('has every target, with our own layer last', () => {
    for (const target of TARGETS) expect(stage(target).at(-1)).toEqual(['COPY', '--from=build /image/bowline /']);
    expect(text.trimEnd().split('\n').at(-2)).toBe('FROM base AS manager');
  });

  it('builds with the Node version of the image', () => {
    expect(valuesOf('build', 'FROM')).toEqual([`node:${secondNodeVersion}-bookworm AS build`]);
  });
});
