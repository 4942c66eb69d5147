/** Erases and exports users. */
export { exportUser } from './export-user.ts';
export { type ForgetUserOptions, forgetUser, type UserReference } from './forget-user.ts';
