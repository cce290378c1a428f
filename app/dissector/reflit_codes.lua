-- SPDX-License-Identifier: BSD-3-Clause
--
-- CRC, FEC and mixed-in numbers of flits, as in lib/flit/codec_ref.c.
-- reflit.lua loads this file from its own folder.

local codes = {}

local CRC_OFF, FEC_OFF = 242, 250

codes.choices = { -- order of trial
	{ name = "bch, wide", crc = "bch", mix = "wide" },
	{ name = "bch, wide19", crc = "bch", mix = "wide19" },
	{ name = "bch, xor10", crc = "bch", mix = "xor10" },
	{ name = "ecma, wide", crc = "ecma", mix = "wide" },
	{ name = "ecma, xor10", crc = "ecma", mix = "xor10" },
}

-- CRC-64: a word is two halves of 32 bits ------------------------------------

local band, bor, bxor = bit.band, bit.bor, bit.bxor
local lshift, rshift, tobit = bit.lshift, bit.rshift, bit.tobit

local function shift_right(lo, hi)
	return bor(rshift(lo, 1), lshift(hi, 31)), rshift(hi, 1)
end

local function crc_table(poly_lo, poly_hi)
	local t = { lo = {}, hi = {} }

	for b = 0, 255 do
		local lo, hi = b, 0

		for _ = 1, 8 do
			local odd = band(lo, 1) == 1

			lo, hi = shift_right(lo, hi)
			if odd then
				lo, hi = bxor(lo, poly_lo), bxor(hi, poly_hi)
			end
		end
		t.lo[b], t.hi[b] = lo, hi
	end
	return t
end

local crcs = {
	ecma = crc_table(0xd7870f42, 0xc96c5795),
	bch = crc_table(0xb8908fe6, 0xc36a26c5),
}

-- of bytes[1..CRC_OFF], from a start value
local function crc64(t, bytes, lo, hi)
	local tlo, thi = t.lo, t.hi

	for i = 1, CRC_OFF do
		local at = band(bxor(lo, bytes[i]), 255)

		lo = bxor(bor(rshift(lo, 8), lshift(hi, 24)), tlo[at])
		hi = bxor(rshift(hi, 8), thi[at])
	end
	return lo, hi
end

-- xor10: change of the CRC by a number in the low bits of the payload
local function xor10_words(t)
	local words = {}

	for j = 0, 9 do
		local bytes = {}

		for i = 1, CRC_OFF do
			bytes[i] = 0
		end
		bytes[3 + math.floor(j / 8)] = lshift(1, j % 8)
		words[j] = { crc64(t, bytes, 0, 0) }
	end
	return words
end

-- wide: number times x^degree, made a multiple of the polynomial, bit-reversed
local function wide_words(poly_lo, poly_hi, degree, bits)
	local function bit_of(lo, hi, i)
		return i < 32 and band(rshift(lo, i), 1) or
			band(rshift(hi, i - 32), 1)
	end
	local words = {}

	for j = 0, bits - 1 do
		local rem, word = {}, { 0, 0 }

		for i = 0, 63 do
			rem[i] = i == degree + j and 1 or 0
		end
		for i = 63, degree, -1 do
			if rem[i] == 1 then
				for k = 0, degree do
					rem[i - degree + k] = bxor(
						rem[i - degree + k],
						bit_of(poly_lo, poly_hi, k))
				end
			end
		end
		rem[degree + j] = 1
		for i = 0, 63 do
			local to = 63 - i
			local half = to < 32 and 1 or 2

			if rem[i] == 1 then
				word[half] = bor(word[half],
					lshift(1, to % 32))
			end
		end
		words[j] = word
	end
	return words
end

local function mix(words, bits, n)
	local lo, hi = 0, 0

	for j = 0, bits - 1 do
		if band(rshift(n, j), 1) == 1 then
			lo = bxor(lo, words[j][1])
			hi = bxor(hi, words[j][2])
		end
	end
	return lo, hi
end

-- finds the number in the low bits of a wide word, last bit first
local function unmix_wide(words, bits, lowest, lo, hi)
	local n = 0

	for j = 0, bits - 1 do
		n = bor(n, lshift(band(rshift(lo, lowest - j), 1), j))
	end
	local want_lo, want_hi = mix(words, bits, n)

	return want_lo == tobit(lo) and want_hi == tobit(hi) and n or nil
end

local function xor10_inverse(words)
	local inverse = {}

	for n = 0, 1023 do
		local lo, hi = mix(words, 10, n)

		inverse[lo] = { n, hi }
	end
	return inverse
end

local wide = wide_words(0x853db067, 0x003767ee, 53, 10)
local wide19 = wide_words(0x10538443, 0x0000357b, 45, 19)
local inverse = {}
for name, t in pairs(crcs) do
	inverse[name] = xor10_inverse(xor10_words(t))
end

-- @return the number that a word encodes, or nil
local function unmix(choice, lo, hi)
	if choice.mix == "wide" then
		return unmix_wide(wide, 10, 10, lo, hi)
	elseif choice.mix == "wide19" then
		return unmix_wide(wide19, 19, 18, lo, hi)
	end
	local found = inverse[choice.crc][tobit(lo)]

	return found and found[2] == tobit(hi) and found[1] or nil
end

-- The mixing used in this capture, once it is known.
codes.found = nil

-- Number of a flit, bytes[1..256]. wanted: index of the choice; 0: the first
-- that fits. @return the number and the choice; nil: the flit is corrupt
function codes.number_of(bytes, wanted)
	local b = bytes
	local lo = bor(b[243], lshift(b[244], 8), lshift(b[245], 16),
		lshift(b[246], 24))
	local hi = bor(b[247], lshift(b[248], 8), lshift(b[249], 16),
		lshift(b[250], 24))
	local rest = {}

	for i, c in ipairs(codes.choices) do
		if wanted == i or (wanted == 0 and
		    (codes.found == nil or codes.found == c)) then
			local r = rest[c.crc]

			if r == nil then
				local clo, chi = crc64(crcs[c.crc], b, -1, -1)

				r = { bxor(bxor(clo, -1), lo),
					bxor(bxor(chi, -1), hi) }
				rest[c.crc] = r
			end
			local n = unmix(c, r[1], r[2])

			if n ~= nil then
				if n ~= 0 then
					codes.found = c -- 0 fits all choices
				end
				return n, c
			end
		end
	end
	return nil
end

-- FEC: three interleaved codes over GF(2^8) --------------------------------

local gf_exp, gf_log = {}, {}
do
	local x = 1

	for i = 0, 254 do
		gf_exp[i], gf_log[x] = x, i
		x = x * 2
		if x > 255 then
			x = bxor(x, 0x11d)
		end
	end
end
local C_AT, P_AT = { [0] = 252, 250, 251 }, { [0] = 255, 253, 254 }

-- corrects bytes[] in place. @return bytes corrected, or nil on failure
function codes.fec(bytes)
	local corrected = 0

	for g = 0, 2 do
		local sp, sc = bytes[P_AT[g] + 1], bytes[C_AT[g] + 1]

		for i = g, FEC_OFF - 1, 3 do
			local d = bytes[i + 1]

			if d ~= 0 then
				sp = bxor(sp, d)
				sc = bxor(sc, gf_exp[(gf_log[d] + 84 -
					(i - g) / 3) % 255])
			end
		end
		if sp ~= 0 and sc ~= 0 then
			local k = 84 - (gf_log[sc] - gf_log[sp]) % 255
			local at = 3 * k + g

			if k < 0 or at >= FEC_OFF then
				return nil
			end
			bytes[at + 1] = bxor(bytes[at + 1], sp)
		end
		if sp ~= 0 or sc ~= 0 then
			corrected = corrected + 1
		end
	end
	return corrected
end

-- CRC-32C of the header ------------------------------------------------------

local crc32c = {}
for b = 0, 255 do
	local c = b

	for _ = 1, 8 do
		c = bxor(rshift(c, 1), band(c, 1) == 1 and 0x82f63b78 or 0)
	end
	crc32c[b] = c
end

-- CRC of raw[1..bytes], where byte 0 is byte 14 of the frame; the check itself,
-- bytes 36-39, counts as zero
function codes.header_check(raw, bytes)
	local c = -1

	for i = 1, bytes do
		local b = (i <= 36 or i > 40) and raw:byte(i) or 0

		c = bxor(rshift(c, 8), crc32c[band(bxor(c, b), 255)])
	end
	return bxor(c, -1)
end

return codes
