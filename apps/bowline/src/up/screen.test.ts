import { describe, expect, it } from 'vitest';
import { plain } from '../terminal/colors.ts';
import { draw, type Picture, Screen } from './screen.ts';
import type { ObjectState } from './watched-objects.ts';

const state = (key: string, isReady: boolean, message = 'all is well'): ObjectState => ({
  operator: 'configmap-sync',
  kind: 'ConfigMapSync',
  key,
  isReady,
  message,
});

const nothing: Picture = { heading: ['ready'], states: [], events: [], notes: [] };

describe('draw', () => {
  it('shows objects below their operator, then the latest events, then warnings', () => {
    const events = [{ at: '2026-11-16T04:29:36Z', isWarning: false, text: 'ConfigMapSync a/b Created: created c/b' }];
    const states = [state('a/b', true), state('a/c', false)];
    const picture: Picture = { ...nothing, states, events, notes: ['careful'] };
    expect(draw(picture, plain, 80)).toEqual([
      'ready',
      '',
      'configmap-sync',
      '  ConfigMapSync a/b  ready  all is well',
      '  ConfigMapSync a/c  waiting  all is well',
      '',
      'latest',
      '  04:29:36 ConfigMapSync a/b Created: created c/b',
      'careful',
    ]);
  });

  it('stays within the width and the height of a screen', () => {
    const states = Array.from({ length: 40 }, (_, index) => state(`a/${index}`, true, 'a long message '.repeat(20)));
    const lines = draw({ ...nothing, states }, plain, 60);
    expect(lines.length).toBeLessThan(20);
    expect(lines.at(-1)).toBe('  and 28 more');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it('joins a message of several lines', () => {
    expect(draw({ ...nothing, states: [state('a/b', false, 'one\ntwo')] }, plain, 80).at(-1)).toContain('one two');
  });
});

describe('Screen', () => {
  it('replaces the previous picture', () => {
    const written: string[] = [];
    const screen = new Screen({ columns: 80, write: (text) => written.push(text) }, plain);
    screen.show({ ...nothing, states: [state('a/b', false)] });
    screen.show({ ...nothing, states: [state('a/b', true)] });
    // Moves up over the four lines of the first picture, and clears them.
    expect(written[1]?.startsWith('\u001B[4A\u001B[0J')).toBe(true);
  });

  it('counts the rows of a wrapped heading line, ignoring colours', () => {
    const written: string[] = [];
    const screen = new Screen({ columns: 40, write: (text) => written.push(text) }, plain);
    const heading = [`\u001B[32m${'x'.repeat(40)}\u001B[39m`, 'y'.repeat(81)];
    screen.show({ ...nothing, heading });
    screen.show({ ...nothing, heading });
    expect(written[1]?.startsWith('\u001B[5A\u001B[0J')).toBe(true);
  });
});
