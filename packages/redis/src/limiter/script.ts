import { defineScript } from '../script.ts';

/**
 * All windows of a key in one hash: `u<name>` slots used, `r<name>` when the window ends. By the server's clock, so that
 * all processes agree on it. Arguments: the number of windows to take from, which come first, then name, limit and length of each window.
 * Returns the position of the window that rejects or 0, then used slots and end of each window.
 */
export const windowsScript = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local takes = tonumber(ARGV[1])
local fields = {}
for at = 2, #ARGV, 3 do
  fields[#fields + 1] = 'u' .. ARGV[at]
  fields[#fields + 1] = 'r' .. ARGV[at]
end
if #fields == 0 then return { 0 } end
local kept = redis.call('HMGET', KEYS[1], unpack(fields))
local answer = { 0 }
for at = 1, #fields, 2 do
  local used, reset = tonumber(kept[at] or 0), tonumber(kept[at + 1] or 0)
  local window = 2 + (at - 1) / 2 * 3
  if reset <= now then
    used, reset = 0, now + tonumber(ARGV[window + 2])
  end
  if at < takes * 2 and used >= tonumber(ARGV[window + 1]) and answer[1] == 0 then answer[1] = (at + 1) / 2 end
  answer[at + 1], answer[at + 2] = used, reset
end
if takes > 0 and answer[1] == 0 then
  local last = now
  local writes = {}
  for at = 1, takes * 2, 2 do
    answer[at + 1] = answer[at + 1] + 1
    writes[at * 2 - 1], writes[at * 2] = fields[at], answer[at + 1]
    writes[at * 2 + 1], writes[at * 2 + 2] = fields[at + 1], string.format('%.0f', answer[at + 2])
    if answer[at + 2] > last then last = answer[at + 2] end
  end
  redis.call('HSET', KEYS[1], unpack(writes))
  if redis.call('PTTL', KEYS[1]) < last - now then
    redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last))
  end
end
return answer
`);
