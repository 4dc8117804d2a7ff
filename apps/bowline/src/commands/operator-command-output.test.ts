import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { bowline } from '../testing/test-operators.test-support.ts';

it('prints the rows that a command returns as a table, and its messages and log on standard error', async () => {
  const { code, out, err } = await bowline(['toolbox', 'list']);
  expect(out).toBe('NAME     WEIGHT\nhammer   3\nawl      \n');
  expect(err).toMatch(/^looking for tools\n\{"level":"warn".*"msg":"the box is open".*\}\n$/);
  expect(code).toBe(0);
});

it('prints everything that a command returns as JSON and as YAML', async () => {
  const rows = [
    { name: 'hammer', weight: 3, parts: ['head', 'handle'] },
    { name: 'awl', parts: [] },
  ];
  expect(JSON.parse((await bowline(['toolbox', 'list', '-o', 'json'])).out)).toEqual(rows);
  expect(parse((await bowline(['toolbox', 'list', '-o', 'yaml'])).out)).toEqual(rows);
});

it('prints one object as a table with one row, and as one JSON object', async () => {
  expect((await bowline(['toolbox', 'show', 'hammer'])).out).toBe('NAME     WEIGHT\nhammer   3\n');
  const { out } = await bowline(['toolbox', 'show', 'awl', '--output', 'json']);
  expect(JSON.parse(out)).toEqual({ name: 'awl', parts: [] });
});

it('omits a column without values', async () => {
  expect((await bowline(['toolbox', 'show', 'awl'])).out).toBe('NAME\nawl\n');
});

it('reports on standard error that a table has no rows, and prints an empty list for programs', async () => {
  const table = await bowline(['toolbox', 'list', 'saw', '--log-level', 'error']);
  expect(table).toEqual({ code: 0, out: '', err: 'looking for tools\nThere are no such tools.\n' });
  expect((await bowline(['toolbox', 'list', 'saw', '-o', 'json'])).out).toBe('[]\n');
});

it('offers the formats only for commands that return data', async () => {
  expect((await bowline(['toolbox', 'list', '--help'])).out).toContain('-o, --output <format>');
  expect((await bowline(['toolbox', 'place', '--help'])).out).not.toContain('--output');
  const { code, err } = await bowline(['toolbox', 'list', '-o', 'xml']);
  expect(err).toContain("'xml' is invalid. Allowed choices are table, json, yaml.");
  expect(code).toBe(2);
});

it('prints nothing on standard output if the command fails', async () => {
  const { code, out, err } = await bowline(['toolbox', 'show', 'saw', '-o', 'json']);
  expect([code, out, err]).toEqual([1, '', expect.stringContaining('no tool saw')]);
});
