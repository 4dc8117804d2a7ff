export { GROUP } from './api/names.ts';
