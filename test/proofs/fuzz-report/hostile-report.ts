import { integerBelow, pick, type Random } from '@bowline/machinery';
import { chance, manyDevices, randomReport } from './report-values.ts';

/** HostileReport is a possible text of the annotation. */
export interface HostileReport {
  readonly family: string;
  readonly text: string;
}

const MAX_CHARACTERS = 65_536;
const MAX_DEVICES = 1_024;
const MAX_DEPTH = 8;

/** hostileReport returns a text: a report, one that was damaged, or no report at all. */
export function hostileReport(random: Random): HostileReport {
  const dice = random.next();
  if (dice < 0.45) return { family: 'structured', text: written(random) };
  if (dice < 0.75) return { family: 'mutated', text: mutated(random, written(random)) };
  if (dice < 0.84) return { family: 'nested', text: nested(random) };
  if (dice < 0.92) return { family: 'tokens', text: soup(random) };
  if (dice < 0.97) return { family: 'bytes', text: bytes(random) };
  if (dice < 0.985) return { family: 'long', text: long(random) };
  const count = MAX_DEVICES - 1 + integerBelow(random, 3);
  return { family: 'devices', text: JSON.stringify(manyDevices(random, count, chance(random, 0.2))) };
}

function written(random: Random): string {
  const text = JSON.stringify(randomReport(random), undefined, pick(random, [0, 0, 2, '\t']));
  // Escaped characters are the same text.
  return chance(random, 0.1) ? text.replace(/[a-z]/g, (letter) => escaped(random, letter)) : text;
}

function escaped(random: Random, letter: string): string {
  return chance(random, 0.9) ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Tokens of JSON, members and values of a report, and characters that may confuse a parser. */
const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '\\x',
  ' ',
  '\n',
  '\t',
  '\u0000',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00',
  '😀',
  'null',
  'true',
  'false',
  '0',
  '-0',
  '01',
  '1e999',
  '-1e-999',
  '9'.repeat(400),
  '0.1',
  'NaN',
  'Infinity',
  '//',
  '/*',
  "'",
  '"completed"',
  '"error"',
  '"node-1"',
  '"2025-08-19T10:00:00Z"',
  '"hsmDeviceName":"pico-hsm",',
  '"reportingNode":"node-1",',
  '"lastReportTime":"2025-08-19T10:00:00Z",',
  '"discoveryStatus":"completed",',
  '"discoveredDevices":[',
  '"devicePath":"/dev/a",',
  '"devicePath":"/dev/a"}',
  '"serialNumber":"1",',
  '"available":false,',
  '"deviceInfo":{',
  '"__proto__":{"available":true},',
  '"constructor":1,',
  '"more":1,',
  '"a":{"a":1,"a":2},',
];

function mutated(random: Random, text: string): string {
  let result = text;
  for (let left = 1 + integerBelow(random, 2); left > 0; left--) result = mutation(random, result);
  return result;
}

function mutation(random: Random, text: string): string {
  const at = integerBelow(random, text.length + 1);
  const length = 1 + integerBelow(random, 12);
  switch (integerBelow(random, 8)) {
    case 0:
      return text.slice(0, at) + pick(random, TOKENS) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + length);
    case 2:
      return text.slice(0, at);
    case 3:
      return (
        text.slice(0, at) +
        String.fromCharCode(integerBelow(random, chance(random, 0.5) ? 128 : 65_536)) +
        text.slice(at + 1)
      );
    case 4:
      return beforeMember(random, text, pick(random, TOKENS));
    case 5:
      return repeatedMember(random, text);
    case 6:
      return replacedValue(random, text);
    default:
      return pick(random, [`\ufeff${text}`, `[${text}]`, `${text}${text}`, `${text}\n`, ` ${text} `, `${text},`]);
  }
}

const MEMBER = /"(?:\w+)"\s*:\s*(?:"[^"]*"|\w+)\s*,/g;

/** beforeMember inserts a token where a member begins: often the result is still JSON. */
function beforeMember(random: Random, text: string, token: string): string {
  const starts = [...text.matchAll(/"\w+"\s*:/g)].map(({ index }) => index);
  if (starts.length === 0) return text;
  const at = pick(random, starts);
  return text.slice(0, at) + token + text.slice(at);
}

/** repeatedMember repeats a member in its object, with the same or another value. */
function repeatedMember(random: Random, text: string): string {
  const members = [...text.matchAll(MEMBER)];
  if (members.length === 0) return text;
  const { 0: member, index } = pick(random, members);
  const copy = chance(random, 0.5) ? member : member.replace(/:.*,$/s, ':null,');
  return text.slice(0, index) + copy + text.slice(index);
}

/** replacedValue replaces a value by a token. */
function replacedValue(random: Random, text: string): string {
  const values = [...text.matchAll(/(?<=:\s*)(?:"[^"]*"|true|false|null|\d+)/g)];
  if (values.length === 0) return text;
  const { 0: value, index } = pick(random, values);
  const token = pick(random, ['null', '""', '0', '1e999', '9'.repeat(400), '[]', '{}', 'true', '"\\ud800"', '"x"']);
  return text.slice(0, index) + token + text.slice(index + value.length);
}

/** nested returns a report with an unknown member, or one of a device, that nests about as deeply as is allowed. */
function nested(random: Random): string {
  const isInDevice = chance(random, 0.5);
  const outer = isInDevice ? 3 : 1;
  const depth = chance(random, 0.05) ? integerBelow(random, 20_000) : MAX_DEPTH - outer - 1 + integerBelow(random, 4);
  const isList = chance(random, 0.5);
  const value = (isList ? '[' : '{"a":').repeat(depth) + pick(random, ['1', 'null', '""']);
  const member = `"more":${value}${(isList ? ']' : '}').repeat(depth)}`;
  const device = `{"devicePath":"/dev/a"${isInDevice ? `,${member}` : ''}}`;
  const report = `"hsmDeviceName":"a","reportingNode":"b","lastReportTime":"2025-08-19T10:00:00Z","discoveryStatus":"completed"`;
  return `{${report},"discoveredDevices":[${device}]${isInDevice ? '' : `,${member}`}}`;
}

function soup(random: Random): string {
  const text = Array.from({ length: integerBelow(random, 40) }, () => pick(random, TOKENS)).join('');
  return chance(random, 0.5) ? `{${text}}` : text;
}

function bytes(random: Random): string {
  const content = Uint8Array.from({ length: integerBelow(random, 200) }, () => integerBelow(random, 256));
  return Buffer.from(content).toString(pick(random, ['utf8', 'latin1', 'utf16le']));
}

/** long returns a text of about the maximum length: a report with padding, or one token many times. */
function long(random: Random): string {
  if (chance(random, 0.3)) {
    const unit = Array.from({ length: 1 + integerBelow(random, 3) }, () => pick(random, TOKENS)).join('');
    return unit.repeat(Math.ceil(integerBelow(random, MAX_CHARACTERS + 100) / unit.length));
  }
  const wanted = MAX_CHARACTERS - 1 + integerBelow(random, 3);
  const report = written(random);
  const missing = wanted - [...report].length;
  const at = report.indexOf('{') + 1;
  const padding = pick<(count: number) => string>(random, [
    (count) => ' '.repeat(count),
    (count) => `"${'m'.repeat(count - 8)}":null,`,
    (count) => `"more":"${'😀'.repeat(count - 10)}",`,
    (count) => `"more":${'9'.repeat(count - 8)},`,
    (count) => `"more":"${'\\"'.repeat((count - 10) / 2)}",`,
  ]);
  return report.slice(0, at) + padding(Math.max(missing, 20)) + report.slice(at);
}
