export { type Clock, sleepOn, type Timer } from './clock/clock.ts';
export { systemClock } from './clock/system-clock.ts';
export { VirtualClock, type VirtualClockOptions } from './clock/virtual-clock.ts';
export { between, integerBelow, pick, type Random, seededRandom, systemRandom } from './random/random.ts';
