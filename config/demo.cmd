# The demonstration's faults: see docs/prompt.md for the commands.
# 2,597 captured frames each way, 2,500 a second: about 1 s of traffic.
wait up
rate e0 2500
rate e1 2500
start
wait 50ms

# 1. A link goes dark in the middle of a packet; both ends see it at once.
link s0-s1#0 down mid-packet
wait dead s0-s1#0
wait 20ms
link s0-s1#0 up
wait up
wait 20ms

# 2. The other is cut one way, in the middle of a packet, and nobody is told:
#    s0 hears on, so the flits before the cut are acknowledged.
link s0-s1#1 one-way s0 mid-packet
wait dead s0-s1#1
wait 20ms
link s0-s1#1 up
wait up
wait 20ms

# 3. The first flaps.
link s0-s1#0 flap 5 20ms

# 4. And the rest of what can happen to frames.
wait 120ms
inject drop s0-s1#1 s0 3
inject corrupt s0-s1#1 s0 2
inject corrupt s0-s1#0 s1 40
inject stall s0-s1#1 s1 5ms
wait sent
wait up
wait drained
show fabric
quit
