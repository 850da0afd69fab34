int one(int a);
int two(int a);
